// What a line of code does: its operations, with PyTorch's names for their arguments. What
// samedevice/introspect/operations.py is in Python.
//
// An operation has a kind: "operator" works element by element, "function" is one of PyTorch's, "method" may be one of
// a tensor, "layer" may be a module, "index" and "assignment" are `x[i]` and `x[i] = y`. It has its node; its arguments,
// each after PyTorch's name for it; `op`, a pattern of what messages call it; `isElementwise`, if messages name none of
// its arguments; `calls`, which is "function" or "module" where a traceback goes on below the line, and "either" where
// that hangs on the release; and `isOpen`, if nothing is known of the argument.

import { called, entry, load, nameOf } from "./calls.js";
import { isAlike, textOf, walk } from "./lines.js";
import { words } from "./tokens.js";

export const TORCH = words("torch th pt");
const IN_PYTHON = words("F functional nn.functional torch.nn.functional"); // PyTorch shows a frame of its own for these
const FUNCTIONAL = [...TORCH, ...IN_PYTHON, "torch.linalg"];
// Of torch.nn.functional, in the releases of today.
const IN_CPP = words(
  "bilinear channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity " +
    "linear one_hot pairwise_distance pdist prelu scaled_dot_product_attention",
);
const IN_PYTHON_TOO = words("einsum stft istft cdist tensordot norm meshgrid");
const METHODS = words("forward __call__ generate predict encode decode sample encode_image encode_text");
const CLASS = /^[A-Z][a-z]/u; // begins the name of a class, but not that of a GAN's `G` and `D`
// Begins the name of a function that is no module: `get_feature(model, x)`, `train_step(batch)`.
const VERB = new RegExp(
  String.raw`^_*(?:get|set|compute|calc\w*|make|create|build|load|save|read|write|train|test|eval\w*|validat\w*|run|main` +
    String.raw`|fit|predict|infer|inference|process|preprocess|extract|apply|step|update|convert|to|collate|plot|draw|show` +
    String.raw`|sample|log|find|check|prepare|init|initialize|print|reset|append|add|rotate|split|merge|augment)(?:_\w*)?$`,
  "u",
);
// What begins like a verb and is a module: `self.to_qkv`, `self.init_conv`, `self.reset_gate`.
const LAYER_LIKE_A_VERB = new RegExp(
  String.raw`^(?:to_(?:q|k|v|kv|qkv|out|logits|patch\w*)(?:_\w+|\d*)|(?:add|init|merge|predict|process|reset|sample|split` +
    String.raw`|update)_(?:\w*_)?(?:conv|gate|proj|linear|layer|norm|block|head|mlp|fc)\d*)$`,
  "u",
);
const MODEL = /^(?:\w{1,40}_)?(?:model|net|network|extractor|encoder|decoder|backbone)$/u;
// What modules are called that have no tensors.
export const WITHOUT_WEIGHTS = new RegExp(
  String.raw`(?:max|avg|average|mean|adaptive|global)_?\w*pool|^pool(?:ing)?\d*$|(?<!p)relu|gelu|sigmoid|tanh|softmax|drop` +
    String.raw`|identity|flatten|^act(?:_|\d|ivation|$)|^pad(?:_|$|ding$)`,
  "iu",
);
const A_MODULE = new RegExp(
  "model|net|module|encoder|decoder|layer|linear|conv|proj|norm(?!al)|^bn|^ln|embed|emb$|head|lstm|gru|rnn|cell" +
    "|att(?:n|ention)|block|backbone|stem|critic|actor|policy|generator|discriminator|teacher|student|classifier|scorer" +
    "|mlp|^fc|mha|^act|relu|pool|drop|stack|expert|gate|^wte$|^wpe$|table|^to_(?:q|k|v|kv|qkv|out)(?:_|$)",
  "iu",
);
export const LOSS = /loss|criterion|cross_entropy|crit\b|objective|^b?ce(?:_|$)|^mse(?:_|$)|^nll/u;
// Of Python's: neither modules nor tensors.
export const BUILTINS = words(
  "abs all any bool callable complex dict divmod enumerate filter float format getattr hasattr id int isinstance iter " +
    "len list map max min next pow print range repr reversed round set sorted str sum super tuple type zip",
);
// Tensors have no methods of these names, so what stands before the dot is PyTorch: `t.cat([a, b])`.
const NO_METHODS = words("cat concat concatenate stack hstack vstack einsum cross_entropy mse_loss");
// Keywords of PyTorch's functions for what is no tensor.
const NO_TENSORS = words(
  "align_corners alpha assume_unique atol batch_first beta device dilation dim dims dropout_p dtype enforce_sorted eps " +
    "equal_nan equation generator groups hop_length ignore_index inplace invert is_causal keepdim label_smoothing layout " +
    "memory_format mode n_fft normalized_shape num_classes num_groups out p padding padding_idx padding_mode reduce " +
    "reduction requires_grad right rounding_mode rtol shape side size stride training win_length",
);
// What programs call functions or layers of their own.
const NO_NAMES = words(
  "add where sub mul div pow take eq bilinear embedding linear prelu layer_norm group_norm batch_norm instance_norm " +
    "rms_norm dist",
);
const ANY_OPERATOR =
  "_*(?:add|sub|rsub|mul|div|pow|eq|ne|lt|gt|le|ge|remainder|floor_divide|bitwise_\\w+|and|or|xor)(?:_\\w*)?";

const OF_CONTAINERS = words(
  "append extend insert update setdefault get pop remove add_scalar join format write info debug log format_map " +
    "startswith endswith items keys index count",
);
const MODULES = [...FUNCTIONAL, ...words("nn np numpy math plt random os sys self")];

const operation = (kind, node, given, op = "", isElementwise = false, calls = "", isOpen = false) => {
  return { kind, node, arguments: given, op, isElementwise, calls, isOpen };
};

/** Whether an operation writes to its first argument. */
export function isInPlace({ kind, node }) {
  if ((node.type === "AugAssign" && kind === "operator") || kind === "assignment") return true;
  return node.type === "Call" && node.func.type === "Attribute" && isOfAMethodInPlace(called(node));
}

export const isOfAMethodInPlace = (name) => /^(?!_).*_$/u.test(name);

/** The operations of a line, the outermost first; `hasLosses`: what may be a module may be a loss. */
export function* operations(line, hasLosses = false) {
  const operator = (node, ...given) => operation("operator", node, given, ANY_OPERATOR, true);
  const index = (node) => operation("index", node, [["self", node.value], ["index", node.slice]]);
  for (const node of walk(...line.body)) {
    const { type, target, targets, left, right, value } = node;
    if (node.op === "MatMult") {
      const known = load().operations.matmul;
      yield operation("function", node, roles(known.arguments, [left ?? target, right ?? value], []), known.op);
    } else if (type === "AugAssign") {
      if (isIndexed(target)) yield index(target); // it is read before it is written
      yield operator(node, ["self", target], ["other", value]);
    } else if (type === "Assign" && targets.length === 1 && isIndexed(targets[0]) && !reads(value, targets[0], line))
      yield operation("assignment", node, [["self", targets[0].value], ["values", value]], "index_put", true);
    else if (type === "BinOp") yield operator(node, ["self", left], ["other", right]);
    else if (type === "Compare" && !node.ops.some((op) => /^(?:Is|In|NotIn)/u.test(op)))
      yield operator(node, ["self", left], ...node.comparators.map((other) => ["other", other]));
    else if (isIndexed(node) && !line.stored.has(node)) yield index(node);
    else if (type === "Call") yield* ofACall(node, line, hasLosses);
  }
}

/** Whether a value is made of what it is assigned to, as a dict's entry is: `means[key] = means[key] + x`. */
function reads(assigned, { value, slice }, line) {
  const isRead = (node) => node.type === "Subscript" && !line.stored.has(node) && isAlike(line, node.slice, slice);
  return slice.type === "Name" && [...walk(assigned)].some((node) => isRead(node) && isAlike(line, node.value, value));
}

const isIndexed = ({ type, slice }) => type === "Subscript" && mayBeTensors(slice);

/** Whether what stands in the brackets after a tensor may hold a tensor: no number, no slice, no string. */
export function mayBeTensors({ type, elts, operand }) {
  if (type === "Tuple") return elts.some(mayBeTensors);
  if (type === "UnaryOp") return mayBeTensors(operand);
  return !["Constant", "Slice", "JoinedStr"].includes(type);
}

/** What a call does: a function or a method of PyTorch, a loss, or a layer. */
function* ofACall(node, line, hasLosses) {
  const { func } = node, name = called(node), known = entry(load().operations, name);
  const args = node.args.flatMap((each) => (each.type === "Starred" && isAList(each.value) ? each.value.elts : [each]));
  const keywords = node.keywords.flatMap((each) => unpacked(each, line));
  const isAMethod = func.type === "Attribute", owner = isAMethod ? textOf(line, func.value) : "";
  const given = args.length + keywords.length;
  const isAnAlias = isAMethod && func.value.type === "Name" && NO_METHODS.includes(name);
  // With one argument it is a layer that is called `embedding`, rather than the function.
  const isImported = func.type === "Name" && given > 1 && !NO_NAMES.includes(name);
  if (known && (FUNCTIONAL.includes(owner) || isAnAlias || isImported)) {
    const passed = roles(known.arguments, args, keywords, known);
    const isOpen = !known.arguments.length;
    yield operation("function", node, passed, known.op, known.elementwise, calls(owner, name), isOpen);
  } else if (known && isAMethod && owner !== "self") {
    const passed = roles(known.arguments, [func.value, ...args], keywords, known);
    yield operation("function", node, passed, known.op, known.elementwise);
  } else if (!given) return;
  else if (!known && FUNCTIONAL.includes(owner) && !entry(load().devices.functions, name)) {
    const passed = roles([], args, keywords).map(([role, each]) => [NO_TENSORS.includes(role) ? "-" : "", each]);
    yield operation("function", node, passed, `(?:\\w*_)?${name}\\w*`, false, calls(owner, name) || "either", true);
  } else if (name === "sum" && func.type === "Name" && args.length === 1) {
    const items = isAList(args[0]) ? args[0].elts : args;
    yield operation("operator", node, items.map((item) => ["other", item]), ANY_OPERATOR, true);
  } else if (LOSS.test(name || textOf(line, func)) || (hasLosses && given > 1 && isLayer(func))) {
    const passed = roles(words("self target weight"), args, keywords);
    yield operation("function", node, passed, "\\w*loss\\w*|sub|mul|add|pow|\\w*entropy\\w*", true, "module");
  } else if (isLayer(func) && !args.some(isAModel)) {
    const passed = roles(args.map(() => "input"), args, keywords);
    yield operation("layer", node, [["module", moduleOf(func)], ...passed], "", false, "module");
  }
  if (isAMethod && !known && args.length && mayBeOfATensor(name, owner)) {
    const passed = [func.value, ...args].map((each) => ["", each]);
    yield operation("method", node, passed, `\\w*${name}\\w*`, false, "", true);
  }
}

/** Whether a method may be one of a tensor's in which two meet: none of a list's, and none that only moves. */
const mayBeOfATensor = (name, owner) =>
  !MODULES.includes(owner) && !entry(load().devices.methods, name) && !OF_CONTAINERS.includes(name);

const isAList = ({ type }) => ["List", "Tuple"].includes(type);

/** What is passed by keywords, with `**{"key": c}` written out. */
function unpacked(keyword, line) {
  const { arg, value: { type, keys, values } } = keyword;
  if (arg !== null || type !== "Dict") return [keyword];
  const nameOfKey = (key) => (key?.type === "Constant" ? (key.value ?? textOf(line, key)) : null);
  return values.map((value, at) => ({ arg: nameOfKey(keys[at]), value }));
}

/** "function", if a function of PyTorch is written in Python, so that its own frame stands in a traceback. */
function calls(owner, name) {
  if (IN_PYTHON.includes(owner)) return IN_CPP.includes(name) ? "either" : "function";
  return IN_PYTHON_TOO.includes(name) ? "function" : "";
}

/** Whether what a line calls has the name of a module, rather than one that a function may have as well. */
export const namesAModule = ({ arguments: [[, node]] }) => A_MODULE.test(nameOf(node));

/** Whether what a line calls is a name, or an attribute, that no module is likely to have. */
export const mayBeAFunction = (operation) =>
  nameOf(operation.arguments[0][1]) !== "" && !namesAModule(operation);

/** Whether a name is that of a model: who is given one is no layer, but a function such as `summary(model)`. */
export const isAModel = (node) => MODEL.test(nameOf(node));

/** The module whose method is called: `model` of `model.generate(ids)`; else what is called itself. */
export const moduleOf = (func) => (func.type === "Attribute" && METHODS.includes(func.attr) ? func.value : func);

/** Whether what is called may be a module: `model`, `self.encoder`, `self.layers[0]`, `nn.Linear(3, 4)`. */
export function isLayer(node) {
  const { type, id, func, value, attr } = node;
  if (type === "Name") return !BUILTINS.includes(id) && !VERB.test(id) && !CLASS.test(id);
  if (type === "Call" && func.type === "Attribute")
    return func.value.type === "Call" && ["to", "cuda", "eval", "train"].includes(func.attr)
      ? isLayer(func.value)
      : /^\p{Uppercase}/u.test(func.attr);
  if (type !== "Attribute") return type === "Subscript";
  if (value.id === "F" || nameOf(value) === "functional") return false;
  if (METHODS.includes(attr) || LOSS.test(attr)) return true;
  return !entry(load().devices.methods, attr) && isOfSelf(node) && (!VERB.test(attr) || LAYER_LIKE_A_VERB.test(attr));
}

/** Each argument after its name: the keyword, else the name at its place, else ""; "-" is no tensor. */
function roles(names, given, keywords, known) {
  const starred = given.findIndex(({ type }) => type === "Starred");
  const certain = starred < 0 ? names : names.slice(0, starred);
  return [
    ...given.map((node, at) => [certain[at] ?? "", node]),
    ...keywords.map(({ arg, value }) => [arg ? role(arg, known) : "**", value]),
  ];
}

/** What PyTorch calls what is passed by a keyword of one of its functions. */
function role(keyword, known) {
  if (!known) return keyword;
  return NO_TENSORS.includes(keyword) ? "-" : (entry(known.keywords, keyword) ?? keyword);
}

/** Whether this names PyTorch's module of functions: `torch`, `F`. */
export const isTorch = (node, line) => FUNCTIONAL.includes(textOf(line, node));

/** Whether an attribute is one of `self`, such as `self.pe` or `self.net.scale`. */
export function isOfSelf(node) {
  while (["Attribute", "Subscript"].includes(node.type)) node = node.value;
  return node.type === "Name" && node.id === "self";
}
