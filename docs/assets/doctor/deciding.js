// Which part of an expression decides on which device its tensor is, as far as the code tells. What
// samedevice/introspect/deciding.py is in Python.
//
// A part has a kind: "created" and "on the CPU" are known to be on the CPU; "number on the CPU" is accepted beside
// tensors on a GPU; "moved" is where the code says; of "attribute" (of `self`), "item", "name" and "result" (of a call)
// the code tells nothing. It has its node; `isOneNumber`, if it is a tensor without dimensions; and `isOpen`, if it may
// be elsewhere.

import { called, decidedBy, deviceArgument, entry, load, nameOf } from "./calls.js";
import { isWhole, textOf } from "./lines.js";
import { BUILTINS, isOfAMethodInPlace, isOfSelf, isTorch, TORCH, WITHOUT_WEIGHTS } from "./operations.js";
import { words } from "./tokens.js";

// The name of what is a number rather than a tensor: `self.hidden_size`, `num_heads`, `epoch`, `eps`.
const A_NUMBER = new RegExp(
  String.raw`^(?:lr|device|dtype|shape|dim|epochs?|steps?|i|j|seed|inf|pi|use_\w+|n_\w+` +
    String.raw`|\w+_(?:dim|dims|len|length|steps?)|(?:batch|hidden|patch|kernel|window|image|img|vocab|embed|head|chunk|block` +
    String.raw`|input|output|state)_size)$`,
  "u",
);
// The name of what is usually a number: `self.gamma`, `temperature`, `eps`.
const OFTEN_A_NUMBER = new RegExp(
  String.raw`^(?:gamma|discount|eps(?:ilon|_\w+)?|alpha|beta[12]?|tau|temperature|momentum|threshold|margin|decay|eos` +
    String.raw`|n|d|d0|B|T|C|rate|lam|lambd|lambda_|sigma|strength|factor` +
    String.raw`|num_\w+|\w+_(?:id|coef\w*|lr|rate|size|factor|ratio|prob|weight_decay|eps))$`,
  "u",
);
const MODULES = [...TORCH, ...words("nn F np numpy math functional")]; // what stands in them is no tensor
const TYPES = words("self int float bool complex str list tuple dict set len print"); // names that are no tensors
// Without arguments they make one number, which may be on the CPU where the others are on a GPU.
const OF_ALL = words("sum mean max min prod std var norm median any all");
const WITH_DIMENSIONS = words("expand expand_as repeat repeat_interleave reshape unsqueeze view view_as");
const METHODS = words("sum repeat clone contiguous float long type_as");
const OF_ARGUMENTS = words("abs pow"); // functions of Python's that make a tensor of a tensor
const OF_ITEMS = words("max min next sum"); // that make a tensor of a list or an iterator of them
export const JOINING = words("cat concat concatenate stack hstack vstack dstack block_diag"); // functions of a list
const CLASS = /^[A-Z][a-z]{2}[A-Za-z0-9]*$/u;
const KNOWN = ["created", "on the CPU", "moved", "number on the CPU"];
// The fields of which each may decide where the result is.
const INNER = {
  BinOp: ["left", "right"], Compare: ["left", "comparators"], IfExp: ["body", "orelse"], BoolOp: ["values"],
  UnaryOp: ["operand"], NamedExpr: ["value"], Await: ["value"], ListComp: ["elt"], GeneratorExp: ["elt"],
};

const part = (kind, node, isOneNumber = false, isOpen = false) => ({ kind, node, isOneNumber, isOpen });

/** Whether the code tells that a part is on the CPU. */
export const isOnCpu = ({ kind, isOpen }) => ["created", "on the CPU"].includes(kind) && !isOpen;

/** The parts that decide where the tensor of an expression is; none where it is no tensor. */
export function parts(node, line) {
  if (!line.parts.has(node)) line.parts.set(node, partsOf(node, line)); // each operator of a chain asks for those within it
  return line.parts.get(node);
}

function partsOf(node, line) {
  const { type, id } = node;
  if (type === "Name")
    return [TYPES, line.counters].some((names) => names.includes(id)) || A_NUMBER.test(id) || CLASS.test(id)
      ? []
      : [part("name", node)];
  if (type === "Attribute") return ofAnAttribute(node, line);
  if (type === "Subscript") return ofASubscript(node, line);
  if (type === "Call") return ofACall(node, line);
  if (type === "Starred") return parts(node.value, line);
  const inner = (INNER[type] ?? []).flatMap((name) => node[name]), found = inner.flatMap((each) => parts(each, line));
  // A number on the CPU is accepted beside a tensor on a GPU, and the result is where the tensor is.
  const tensors = found.filter(({ isOneNumber, kind }) => !isOneNumber && kind !== "number on the CPU");
  return tensors.length ? tensors : found;
}

/** What decides: `batch["image"]` and `outputs[0]` may be items, `x[:, 0]` is a part of a tensor. */
function ofASubscript(node, line) {
  const { type, kind } = node.slice, found = parts(node.value, line);
  const isItem = ["Constant", "Name", "Attribute", "JoinedStr", "UnaryOp"].includes(type);
  if (!isItem || ["None", "Ellipsis"].includes(kind)) return found.map((each) => shaped(each, "view"));
  return found.slice(0, 1).map((whole) => (KNOWN.includes(whole.kind) ? whole : part("item", node)));
}

function ofAnAttribute(node, line) {
  const { attributes } = load().devices, { attr, value } = node;
  if (entry(attributes, attr) === "view") return parts(value, line);
  if (value.type === "Call" && ["values", "indices"].includes(attr)) return parts(value, line); // of `x.max(dim=1)`
  const isOne = (each) => ["facts", "settings"].includes(entry(attributes, nameOf(each)));
  const isSettingOf = (each) => isOne(each) || (each.type === "Attribute" && isSettingOf(each.value));
  const isOfAModule = value.type === "Name" && MODULES.includes(value.id);
  const isAMethod = !isWhole(line, node) && (METHODS.includes(attr) || ["view", "move"].includes(decidedBy(attr)));
  const isALimit = value.type === "Call" && ["finfo", "iinfo"].includes(called(value));
  if (isSettingOf(node) || isOfAModule || isALimit || isAMethod || A_NUMBER.test(attr)) return [];
  return [part(isOfSelf(node) ? "attribute" : "item", node)];
}

function ofACall(node, line) {
  const { func, args } = node, name = called(node), isAMethod = func.type === "Attribute";
  const decides = isAMethod || name.endsWith("Tensor") ? decidedBy(name) : "";
  const given = args.filter(({ type }) => type !== "Starred"), device = deviceArgument(node);
  if (decides === "move") return moved(node, name, line);
  if (decides === "argument" || (device && (decides === "like" || isFactory(node))))
    return [part(isTheCpu(device) ? "on the CPU" : "moved", node)];
  if (["values", "facts"].includes(decides)) return [];
  if (isFactory(node)) return [made(node, decides, given, line)];
  if (name === "Variable" && given.length) return parts(given[0], line); // of torch 0.3 and before
  if (isAMethod && isTorch(func.value, line)) return ofAFunction(node, given, line);
  if (isAMethod && !["np", "numpy", "math"].includes(textOf(line, func.value)))
    return ofAMethod(node, func, decides, line);
  if (func.type === "Name" && OF_ARGUMENTS.includes(name))
    return args.slice(0, 1).flatMap((argument) => parts(argument, line));
  if (func.type === "Name" && OF_ITEMS.includes(name))
    return given.flatMap(itemsOf).some((item) => parts(item, line).length) ? [part("result", node)] : [];
  if (given.length && WITHOUT_WEIGHTS.test(name)) return parts(given[0], line); // a module that only computes
  const isOpen = ["Call", "Subscript"].includes(func.type) || (func.type === "Name" && !BUILTINS.includes(name));
  return isOpen ? [part("result", node)] : [];
}

const isSeveral = ({ type }) => ["List", "Tuple"].includes(type);
const itemsOf = (node) => (isSeveral(node) ? node.elts : [node]);

/** Whether a device is the CPU: `"cpu"`, `torch.device("cpu")`. */
function isTheCpu(device) {
  const { type, kind, value, args } = device ?? {};
  if (type === "Call") return called(device) === "device" && args.length === 1 && isTheCpu(args[0]);
  return kind === "str" && value === "cpu";
}

/** What `.cpu()`, `.cuda()` or `.to(...)` decides; a change of the dtype decides nothing. */
function moved(node, name, line) {
  const to = deviceArgument(node) ?? node.args[0];
  if (name === "cpu" || isTheCpu(to)) return [part("on the CPU", node)];
  return name === "to" && isDtype(to) && node.func.type === "Attribute"
    ? parts(node.func.value, line)
    : [part("moved", node)];
}

/** Whether an argument of `.to()` names a dtype: `torch.float32`, `x.dtype`; none at all is `dtype=`. */
const isDtype = (node) =>
  !node || nameOf(node) === "dtype" || (node.type === "Attribute" && TORCH.includes(node.value.id));

/** What a factory makes without a device. */
function made(node, decides, given, line) {
  const [data] = given;
  if (decides === "data" && data) {
    if (!isSeveral(data) && parts(data, line).some(({ kind }) => kind === "moved")) return part("moved", node);
    if (isNumber(data)) return part("number on the CPU", node, true);
    return part("created", node, false, !isSeveral(data) && data.type !== "ListComp");
  }
  const isOne = called(node) === "scalar_tensor" || (data?.type === "Tuple" && !data.elts.length);
  return isOne ? part("number on the CPU", node, true) : part("created", node);
}

/** Whether a name, an attribute or an entry is called as what is usually a number rather than a tensor. */
export function isOftenANumber(node) {
  const name = node.type === "Subscript" && node.slice.kind === "str" ? node.slice.value : nameOf(node);
  return OFTEN_A_NUMBER.test(name) || A_NUMBER.test(name);
}

function isNumber(node) {
  const { type, kind, operand, left, right, func } = node;
  if (type === "Constant") return ["number", "True", "False"].includes(kind);
  if (type === "UnaryOp") return isNumber(operand);
  if (type === "BinOp") return isNumber(left) && isNumber(right);
  if (type === "Call") return func.attr === "item" || ["len", "int", "float", "bool"].includes(func.id);
  return A_NUMBER.test(nameOf(node));
}

/** What decides where the result of a function of PyTorch is: one tensor that it is given, or its call. */
function ofAFunction(node, given, line) {
  if (JOINING.includes(called(node)) && !given.slice(0, 1).some(isSeveral)) return [part("result", node)];
  const keywords = node.keywords.filter(({ arg }) => !["dim", "dtype"].includes(arg)).map(({ value }) => value);
  const items = [...given, ...keywords].flatMap(itemsOf);
  const byText = new Map();
  for (const each of items.flatMap((item) => parts(item, line)).reverse()) byText.set(textOf(line, each.node), each);
  const found = [...byText.values()].reverse().filter(({ kind }) => kind !== "number on the CPU");
  if (found.some(({ kind }) => kind === "moved")) return [part("moved", node)];
  const created = found.filter(({ kind }) => ["created", "on the CPU"].includes(kind));
  if (created.length) return created;
  return found.length === 1 ? found : [part("result", node)];
}

function ofAMethod(node, { value, attr }, decides, line) {
  const inner = parts(value, line), isOne = OF_ALL.includes(attr) && !node.args.length && !node.keywords.length;
  const isSame = ["view", "copy", "like"].includes(decides) || isOfAMethodInPlace(attr) || isOne;
  if (!isSame && !inner.some(({ kind }) => KNOWN.includes(kind))) return [part("result", node)];
  return inner.map((each) => (isOne ? { ...each, isOneNumber: true } : shaped(each, attr)));
}

/** A part after a method, some of which give dimensions to what has none. */
function shaped(one, method) {
  if (!WITH_DIMENSIONS.includes(method) || !one.isOneNumber) return one;
  return part(one.kind === "number on the CPU" ? "created" : one.kind, one.node);
}

/** Whether a call is one of a factory of torch, which makes a tensor rather than computing one from others. */
export function isFactory(node) {
  const { func, args, keywords } = node, name = called(node), decides = decidedBy(name);
  if (!["default", "data", "size", "cpu"].includes(decides)) return false;
  if (decides === "size" && args.length < 3 && !keywords.some(({ arg }) => arg === "size")) return false;
  if (func.type === "Name") return name.endsWith("Tensor");
  let owner = func.value;
  if (owner.type === "Attribute" && owner.attr === "fft") owner = owner.value;
  return owner.type === "Name" && TORCH.includes(owner.id);
}
