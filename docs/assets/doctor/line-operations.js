// What a line of code does: its operations, with PyTorch's names for their arguments, and where each got its tensors.
// What samedevice/doctor/text/line_operations.py is in Python.

import { textOf, walk } from "./expressions.js";

const words = (text) => new Set(text.trim().split(/\s+/u));

const TORCH = words("torch th pt");
const FUNCTIONAL = words("torch th pt F functional nn.functional torch.nn.functional torch.linalg");
const METHODS = words("forward __call__ generate predict encode decode sample encode_image encode_text");
// The name of an attribute that is a number rather than a tensor: `self.gamma`, `self.hidden_size`, `self.num_heads`.
const A_NUMBER = new RegExp(
  String.raw`^(?:gamma|discount|lr|eps(?:ilon)?|alpha|beta[12]?|tau|temperature|momentum|threshold|margin|dim|eos|k|n|p` +
    String.raw`|(?:num|n|max|min|use|is)_\w+` +
    String.raw`|\w+_(?:coef\w*|rate|size|dim|len|length|steps?|factor|ratio|id|prob|weight_decay))$`,
  "u",
);
export const ELEMENTWISE = words("+ - * / // % ** == != < > <= >= & | ^");
export const CLASS = /^[A-Z][a-z]/u; // begins the name of a class, but not that of a GAN's `G` and `D`
// Begins the name of a function that is no module: `get_feature(model, x)`, `train_step(batch)`.
const VERB = new RegExp(
  String.raw`^(?:get|set|compute|calc\w*|make|create|build|load|save|read|write|train|test|eval\w*|validat\w*|run|main|fit` +
    String.raw`|predict|infer|inference|process|preprocess|extract|apply|step|update|convert|to|collate|plot|draw|show` +
    String.raw`|sample|log|find|check|prepare|init|initialize|print)(?:_\w*)?$`,
  "u",
);
export const LOSS = /loss|criterion|cross_entropy|crit\b|objective/u;
const NO_LAYERS = words(`
  print len range int float str list dict tuple zip enumerate max min sum isinstance super`);

/** The operations of a line, the outermost first: "operator", "function", "layer" or "index". */
export function* operations(catalog, statement) {
  const { targets, sign, value } = statement;
  if (!["", "=", "in"].includes(sign) && targets.length) {
    const parts = [targets[0], value];
    const whole = { kind: "operator", start: targets[0].start, end: value.end, name: sign, parts, keywords: [] };
    yield operation("operator", whole, [["self", targets[0]], ["other", value]]);
  }
  const seen = new Set();
  for (const node of nodesOf(statement)) {
    if (node.kind === "operator" && node.name === "@") {
      const known = operationOf(catalog, "matmul");
      yield operation("function", node, roles(known.arguments, node.parts, ["", ""]), known.op);
    } else if (node.kind === "operator" && ELEMENTWISE.has(node.name) && !seen.has(node)) {
      for (const inner of walk(node)) if (inner.kind === "operator") seen.add(inner);
      yield operation("operator", node, [["self", node.parts[0]], ["other", node.parts[1]]]);
    } else if (node.kind === "subscript" && node.parts.length > 1) {
      yield operation("index", node, roles(["self"], node.parts, node.parts.map(() => "")));
    } else if (node.kind === "call") {
      const called = operationOfACall(catalog, node, statement);
      if (called) yield called;
    }
  }
}

const operation = (kind, node, given, op = "") => ({ kind, node, arguments: given, op });

/** All the expressions of a line. */
export function* nodesOf({ targets, value }) {
  for (const target of targets) yield* walk(target);
  yield* walk(value);
}

/** What a call does: a function or a method of PyTorch, a loss, or a layer. */
function operationOfACall(catalog, node, statement) {
  const [called, ...given] = node.parts;
  const known = ["attribute", "name"].includes(called.kind) ? operationOf(catalog, called.name) : null;
  const owner = called.kind === "attribute" ? textOf(statement, called.parts[0]) : "";
  if (known && (FUNCTIONAL.has(owner) || (called.kind === "name" && !["add", "where"].includes(called.name))))
    return operation("function", node, roles(known.arguments, given, node.keywords), known.op);
  if (known && owner !== "" && owner !== "self") {
    const passed = roles(known.arguments, [called.parts[0], ...given], ["", ...node.keywords]);
    return operation("function", node, passed, known.op);
  }
  if (LOSS.test(textOf(statement, called)) && given.length) {
    const passed = roles(["self", "target", "weight"], given, node.keywords);
    return operation("function", node, passed, String.raw`\w*loss\w*|sub|mul|add|pow`);
  }
  if (!isLayer(called) || !given.length) return null;
  const passed = given.map((part, number) => [node.keywords[number] || "input", part]);
  return operation("layer", node, [["module", moduleOf(called)], ...passed]);
}

/** The module whose method is called: `model` of `model.generate(ids)`; else what is called itself. */
export function moduleOf(called) {
  return called.kind === "attribute" && METHODS.has(called.name) ? called.parts[0] : called;
}

/** Whether what is called may be a module: `model`, `self.encoder`, `self.layers[0]`, `nn.Linear(3, 4)`. */
export function isLayer(called) {
  if (called.kind === "name") return !NO_LAYERS.has(called.name) && !VERB.test(called.name) && !CLASS.test(called.name);
  if (called.kind === "subscript") return true;
  if (called.kind === "call") return called.parts[0].kind === "attribute" && /^[A-Z]/u.test(called.parts[0].name);
  return called.kind === "attribute" && (METHODS.has(called.name) || LOSS.test(called.name) || isSelf(called));
}

/** Each argument after its name: the keyword, else the name at its place, else "". */
function roles(names, given, keywords) {
  const count = Math.min(given.length, keywords.length);
  return given.slice(0, count).map((node, number) => [keywords[number] || (names[number] ?? ""), node]);
}

function operationOf({ operations }, name) {
  return Object.hasOwn(operations, name) ? operations[name] : null;
}

/** What an operator tree works on. */
export function* leaves(node) {
  if (node.kind === "operator" && ELEMENTWISE.has(node.name)) for (const part of node.parts) yield* leaves(part);
  else if (node.kind === "unary") yield* leaves(node.parts[0]);
  else yield node;
}

const place = (kind, node) => ({ kind, node });

/**
 * Where an expression got its tensor: "created", "moved", "on the CPU", "attribute", "member", "name", "called",
 * "number" or "other", and the part of it that says so.
 */
export function placeOf(catalog, node, statement) {
  switch (node.kind) {
    case "literal":
      return place("number", node);
    case "name":
      return place("name", node);
    case "unary":
      return placeOf(catalog, node.parts[0], statement);
    case "operator": {
      const places = [...leaves(node)].filter((leaf) => leaf !== node).map((leaf) => placeOf(catalog, leaf, statement));
      for (const kind of ["created", "on the CPU", "attribute", "member", "name"]) {
        const found = places.find((one) => one.kind === kind);
        if (found) return found;
      }
      return places[0] ?? place("other", node);
    }
    case "subscript": {
      const [object, ...inside] = node.parts;
      // `batch["image"]`, `batch[0]`
      const isItem = inside.length === 1 && inside[0].kind === "literal" && inside[0].name !== "None";
      return isItem ? place("member", node) : placeOf(catalog, object, statement);
    }
    case "attribute": {
      const { attributes } = catalog.devices;
      if (wordOf(attributes, node.name) === "view") return placeOf(catalog, node.parts[0], statement);
      const named = [...walk(node)].filter(({ kind }) => ["name", "attribute"].includes(kind));
      if (named.some(({ name }) => ["facts", "settings"].includes(wordOf(attributes, name)))) return place("number", node);
      if (isSelf(node) && A_NUMBER.test(node.name)) return place("number", node);
      return place(isSelf(node) ? "attribute" : "member", node);
    }
    case "call":
      return placeOfACall(catalog, node, statement);
  }
  return place("other", node);
}

function placeOfACall(catalog, node, statement) {
  const [called, argument] = node.parts, decides = decidedBy(catalog, called);
  if (decides === "move" || called.name === "to") return place(called.name === "cpu" ? "on the CPU" : "moved", node);
  const takesADevice = decides === "like" || isFactory(catalog, node);
  if (decides === "argument" || (takesADevice && node.keywords.includes("device"))) return place("moved", node);
  if (["values", "facts"].includes(decides)) return place("number", node);
  if (isFactory(catalog, node)) {
    const isMoved = decides === "data" && argument && placeOf(catalog, argument, statement).kind === "moved";
    return place(isMoved ? "moved" : "created", node);
  }
  if (called.name === "Variable" && argument) return placeOf(catalog, argument, statement); // of torch 0.3 and before
  if (called.kind !== "attribute") return place("called", node);
  if (FUNCTIONAL.has(textOf(statement, called.parts[0]))) {
    const inner = argument ? placeOf(catalog, argument, statement) : place("called", node); // torch.triu(torch.ones(3, 3))
    return ["created", "attribute", "on the CPU", "moved"].includes(inner.kind) ? inner : place("called", node);
  }
  const inner = placeOf(catalog, called.parts[0], statement);
  return ["view", "copy", "like"].includes(decides) || inner.kind === "created" ? inner : place("called", node);
}

/** What decides the device of what is called with this name, as the catalog's factories.toml says; else "". */
export function decidedBy({ devices: { functions, methods } }, { kind, name }) {
  return (kind === "attribute" && wordOf(methods, name)) || wordOf(functions, name);
}

const wordOf = (words, name) => (Object.hasOwn(words, name) ? words[name] : "");

/** Whether a call is one of a factory of torch, which makes a tensor rather than computing one from others. */
export function isFactory(catalog, { parts, keywords }) {
  const [called] = parts, decides = decidedBy(catalog, called);
  if (!["default", "data", "size", "cpu"].includes(decides)) return false;
  if (decides === "size" && keywords.filter((name) => !name).length < 3 && !keywords.includes("size")) return false;
  if (called.kind === "name") return called.name.endsWith("Tensor");
  const [owner] = called.parts;
  return TORCH.has((owner.name === "fft" && owner.parts.length ? owner.parts[0] : owner).name);
}

/** Whether an attribute is one of `self`, such as `self.pe` or `self.net.scale`. */
export function isSelf(node) {
  while (["attribute", "subscript"].includes(node.kind) && node.parts.length) node = node.parts[0];
  return node.kind === "name" && node.name === "self";
}
