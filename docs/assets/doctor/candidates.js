// What can it be? The tensors of the failing line that may be in the wrong place, by elimination: what
// samedevice/doctor/text/candidates.py is in Python.
//
// A candidate has its frame, its line and its node; a kind, which is that of a part (see deciding.js), "module", or
// "total" for what the line adds to; the operation that it was passed to, and its role there; its cause, "" where its
// form does not tell; its points; why, in one sentence; what it met (`others`); and whether it is known to be on the CPU.

import { accused } from "./accused.js";
import { called, deviceArgument } from "./calls.js";
import { isOftenANumber, isOnCpu, parts } from "./deciding.js";
import { isWhole, readLine, textOf, walk } from "./lines.js";
import { isInPlace, isOfSelf, LOSS, mayBeAFunction, moduleOf, WITHOUT_WEIGHTS } from "./operations.js";
import { CPU, GPUS, isBetweenGpus, isMarked, isSame, namesNoDevice, OF_A_FUNCTION, pair, refused } from "./refusing.js";

const OPERATIONS = 16; // that may have failed; of more, more is left than can be named
export const MOST = 4; // candidates that are named; of more, nobody knows enough to name any
// How much each form says, on the scale of the catalog's points.
export const CERTAIN = 6.5, LIKELY = 3.5;
const POSSIBLE = 1.5;

/** What may be in the wrong place in the line of a frame, in the line's order. */
export function candidates(reading, frame) {
  const line = frame?.code ? readLine(frame.code) : null;
  if (!line) return [];
  let left = refused(line, frame, reading);
  // Else the operation, or the operand, may be what was cut off.
  if (!isShownWhole(line, frame)) {
    const told = left.filter((one) => isMarked(one, frame) || namesItsArgument(one, line, reading));
    left = left.every((one) => told.includes(one) || isWhole(line, one.node)) ? told : [];
  }
  if (left.length > OPERATIONS) return [];
  const isALayer = ({ kind }) => kind === "layer", hasAModule = left.some((one) => isALayer(one) && !isRatherAFunction(one));
  // The innermost says best what an operand met.
  let found = [...left].reverse().flatMap((operation) => {
    // Beside what has the name of a module, what has none is rather a function; not so an attribute of `self`.
    return ofOperation(operation, left, line, frame, reading, !hasAModule || !isRatherAFunction(operation));
  });
  // What one of them makes is no operand of another: the first that failed is the innermost.
  const made = left.filter((one) => !isALayer(one) || !mayBeAFunction(one)).map(({ node }) => node);
  const holds = (node) => [...walk(node)].some((inner) => made.includes(inner));
  found = found.filter(({ kind, node }) => !["result", "moved", "on the CPU", "item"].includes(kind) || !holds(node));
  found = withoutDoubles(eliminated(found));
  return found.sort(({ node: one }, { node: other }) => one.start - other.start || one.end - other.end);
}

const isRatherAFunction = (operation) => mayBeAFunction(operation) && !isOfSelf(operation.arguments[0][1]);

/** Whether a text shows a whole statement; the body of a loop or of a condition is never shown. */
export function isShownWhole({ characters, end }, { file }) {
  return (file ? /^;*(?:$|:)/u : /^[.;`]*(?:$|:)/u).test(characters.slice(end).join("").trim());
}

/** Whether what was passed for the argument that the message puts in the wrong place is shown. */
function namesItsArgument(operation, line, { reads: { argument = "", device_kind } }) {
  const isNamed = ([role, node]) => isSame(role, argument) && isWhole(line, node);
  return device_kind === "cpu" && operation.arguments.some(isNamed);
}

function ofOperation(operation, left, line, frame, reading, isALayer) {
  const found = [];
  for (let [role, node, others] of accused(operation, reading)) {
    const add = (candidate, ...more) => {
      if (candidate) found.push({ ...candidate, frame, operation, role, others: others.concat(more) });
    };
    if (role === "module" && !isALayer) continue;
    if (node.type === "Starred") [role, node] = ["list", node.value];
    if (role === "module") {
      add(module(node, line));
      continue;
    }
    const [products, sides] = [productsIn(node, left), operands(node)].map(allIn);
    for (const some of couldBe(role, node, operation, line, reading)) {
      const [product] = products.find(([, all]) => all.has(some.node)) ?? [];
      const part = product && isOfTwo(product, line) ? { kind: "result", node: product } : some, own = new Set(walk(part.node));
      const beside = sides.filter(([each, all]) => !all.has(part.node) && !own.has(each)).map(([each]) => each);
      add(told(part, role, operation, line, reading), ...beside);
    }
  }
  return found;
}

const allIn = (nodes) => nodes.map((node) => [node, new Set(walk(node))]);

const isOfTwo = (product, line) => new Set(parts(product, line).map(({ node }) => textOf(line, node))).size > 1;

/** The products in an operand that did not fail: the two tensors of each are in one place. */
function productsIn(operand, left) {
  const hasFailed = (inner) => left.some(({ node }) => node === inner);
  return [...walk(operand)].filter((node) => node.op === "MatMult" && ![...walk(node)].some(hasFailed));
}

/** The operands of a tree of operators, where it is one. */
function operands(node) {
  if (node.type === "BinOp") return [node.left, node.right].flatMap(operands);
  return node.type === "Compare" ? [node.left, ...node.comparators].flatMap(operands) : [node];
}

export const within = (inner, outer) => [...walk(outer)].includes(inner);

/** The parts of an operand that could be the tensor in the wrong place. */
function couldBe(role, node, operation, line, reading) {
  const isWritten = isInPlace(operation) && role === "self", isOfGpus = isBetweenGpus(reading);
  const acceptsNumbers = operation.isElementwise && !isWritten && !(reading.message.id in OF_A_FUNCTION);
  return parts(node, line).flatMap((part) => {
    const isOnly = part.kind === "number on the CPU", isANumber = part.isOneNumber || isOnly;
    const isOfCpu = ["created", "on the CPU", "number on the CPU"].includes(part.kind);
    const couldMove = () => part.kind !== "moved" || (namesNoDevice(reading) && namesAGpu(part.node));
    const could = isOfGpus ? !isOfCpu && !follows(part.node) : couldMove();
    if (!could || (isANumber && acceptsNumbers) || isOfTheSameLayer(part.node, operation, line)) return [];
    return isOnly ? { kind: "created", node: part.node } : part;
  });
}

/** Whether an operand is what the same layer made: it is where the layer is. */
function isOfTheSameLayer({ type, func }, operation, line) {
  if (operation.kind !== "layer" || type !== "Call") return false;
  return textOf(line, moduleOf(func)) === textOf(line, operation.arguments[0][1]);
}

/** Whether a call says which GPU: `x.to("cuda:1")`. */
const namesAGpu = (node) => [...walk(node)].some(({ kind, value }) => kind === "str" && value.includes(":"));

/** Whether a call moves to where another tensor is: `x.to(y.device)`, `x.type_as(y)`. */
function follows(node) {
  if (node.type !== "Call") return false;
  const name = called(node), to = deviceArgument(node) ?? (name === "to" ? node.args[0] : null);
  return name === "type_as" || (to?.attr === "device" && !isOfSelf(to));
}

/** A module whose own tensors are on the CPU; null for one that has none. */
function module(node, line) {
  const name = textOf(line, node), quoted = `\`${name}\``;
  const found = (cause, because, points = LIKELY) => candidate(line, node, "module", cause, points, because);
  if (node.type === "Call")
    return found("submodule_created_in_forward", `${quoted} is created in the line that calls it.`, CERTAIN);
  if (LOSS.test(name)) {
    const isAFunction = node.type === "Attribute" && /^(?:F|(?:torch\.)?nn\.functional)\./u.test(name);
    return isAFunction ? null : found("loss_weight_not_moved", `${quoted} is a loss with weights of its own.`);
  }
  if (WITHOUT_WEIGHTS.test(name.split(".").at(-1))) return null;
  return found("model_not_moved", `The weights of ${quoted} are on the CPU.`);
}

export const candidate = (line, node, kind, cause = "", points = 0, because = "") => {
  return { line, node, kind, cause, points, because, others: [], expression: textOf(line, node) };
};

/** What the code tells of a part: how likely it is, and the cause. */
export function told(part, role, operation, line, reading) {
  const { node: { type, func }, kind, op, arguments: given } = operation, quoted = `\`${textOf(line, part.node)}\``;
  const found = (cause, points, because, what = part.kind) => {
    const why = because && `${quoted} is ${because}.`;
    return { ...candidate(line, part.node, what, cause, points, why), isKnown: isOnCpu(part) };
  };
  const isLoss = (type === "Call" && LOSS.test(textOf(line, func))) || op.includes("loss");
  const attribute = "an attribute: `.to(device)` moves it only if it is a parameter or a buffer";
  const created = "created in this line without a device";
  if (kind === "index") {
    if (part.kind === "attribute") return found("unregistered_tensor_attribute", CERTAIN, attribute);
    if (part.kind === "created") return found("index_on_wrong_device", CERTAIN, created);
    const index = textOf(line, given[1][1]);
    return found("index_on_wrong_device", LIKELY, `on the CPU, and its index \`${index}\` is not`);
  }
  if (part.kind === "created") {
    let cause = "tensor_created_in_forward_without_device";
    if (role === "weight" && isLoss) cause = "loss_weight_not_moved";
    if (role === "hidden") cause = "hidden_state_not_moved";
    return found(cause, part.isOpen ? LIKELY : CERTAIN, created);
  }
  if (type === "AugAssign" && role === "self") {
    const because = "added to in place, and so stays where it was created";
    return found("metric_or_accumulator_state", LIKELY, because, "total");
  }
  if (role === "weight" && isLoss) {
    const because = `${quoted} holds the weights of the loss.`;
    return { ...found("loss_weight_not_moved", LIKELY), because };
  }
  if (role === "hidden" && isOfAnLstm(operation, line)) return found("hidden_state_not_moved", LIKELY, "passed as the hidden state");
  if (part.kind === "attribute" && pair(reading) === CPU)
    return found("unregistered_tensor_attribute", isOftenANumber(part.node) ? POSSIBLE : LIKELY, attribute);
  if (role === "target" && isLoss) {
    const points = reading.reads.argument === "target" ? LIKELY : 2;
    return found("target_not_moved", points, "passed as the target of the loss");
  }
  if (role === "hidden") return found("hidden_state_not_moved", LIKELY, "passed as the hidden state");
  if (role === "input" && kind === "layer") {
    if (pair(reading) !== GPUS) return found("input_not_moved", LIKELY, "passed from the CPU");
    const because = `passed to \`${textOf(line, given[0][1])}\`, which is on another GPU`;
    return found("split_model_activation_not_moved", LIKELY, because);
  }
  return part.kind === "moved" ? found("wrong_default_index", POSSIBLE) : found();
}

/** Whether an operation calls an LSTM, whose hidden state is a tuple of two tensors. */
export const isOfAnLstm = ({ kind, node }, line) =>
  kind === "layer" && node.type === "Call" && textOf(line, node.func).toLowerCase().includes("lstm");

/** What is known to be on the CPU, where anything is: it would fail whatever else is there, too. */
function eliminated(found) {
  const known = found.filter(({ isKnown }) => isKnown);
  return known.length ? known : found;
}

export function withoutDoubles(found) {
  const byText = new Map();
  for (const one of found) {
    const first = byText.get(one.expression), others = first?.others ?? new Set();
    for (const other of one.others) others.add(other);
    byText.set(one.expression, { ...(first && one.points <= first.points ? first : one), others });
  }
  return [...byText.values()].map((one) => ({ ...one, others: [...one.others] }));
}
