// Which operands of an operation the message leaves, those of the side that is in the wrong place: what
// samedevice/doctor/text/accused.py is in Python. Each is what it was passed for, what was passed, and what it met.

import { entry } from "./calls.js";
import { mayBeTensors } from "./operations.js";
import { CONVOLVED, CPU, GPUS, isBetweenGpus, isSame, MANY_INPUTS, pair, toldDevices } from "./refusing.js";
import { words } from "./tokens.js";

const OWN = /^(?:weight|bias|running_mean|running_var|mat2|weight_\w+|parameter)$/u; // of a layer
export const INPUTS = words("input index indices mat1 self src"); // what a batch is passed for
const HIDDEN = /^(?:hx|cx|hidden\w*)$/u;
const ONE_INPUT = /torch\/nn\/modules\/(?:sparse|linear|conv|batchnorm|normalization|instancenorm)\.py/u;
const WITHOUT_A_WEIGHT = /\bin (?:mse|l1|smooth_l1|huber)_loss|(?:mse|l1|smooth_l1|huber)_loss\(/u;
// Arguments that are no tensors, as PyTorch calls them.
const NUMBERS = words("dim alpha beta equation normalized_shape num_groups n_fft hop_length win_length -");

// What an operator is called where it is traced; of `+=`, with an "i" before it.
const OPERATORS = {
  Add: "add", Sub: "sub rsub", Mult: "mul", Div: "div truediv", FloorDiv: "floordiv floor_divide", Mod: "mod remainder",
  Pow: "pow", MatMult: "matmul mm bmm",
};

/** Whether an operator is the one that was traced; other operations are told apart by their tensors alone. */
function isCalled({ type, op }, traced) {
  const names = ["BinOp", "AugAssign"].includes(type) && entry(OPERATORS, op), name = traced.replace(/^aten\./u, "");
  const plain = name.split(".")[0].replace(/^_+|_+$/gu, "");
  return !names || !plain || [plain, plain.replace(/^i/u, "")].some((each) => words(names).includes(each));
}

/** The arguments of an operation that the message leaves open: on the side that is in the wrong place. */
export function accused(operation, reading) {
  const { reads: { argument = "", device_kind, element, traced = "", operands = "" }, message, below } = reading;
  const { kind, arguments: given, isOpen, node } = operation, isOnCpu = device_kind === "cpu";
  const betweenGpus = pair(reading) === GPUS, told = toldDevices(reading), values = given.map(([, value]) => value);
  const [, list] = given.find(([role]) => role === "tensors") ?? [], loss = ["module", node.func, values];
  if (!isCalled(node, traced)) return [];
  if (kind === "index") {
    const [base, index] = values, items = index.type === "Tuple" ? index.elts : [index];
    const indices = isBetweenGpus(reading) ? items.filter(mayBeTensors) : [];
    return [["self", base, [index]], ...indices.map((each) => ["index", each, [base]])];
  }
  // What was on the CPU in a traced call, whose message shows the device of each tensor, in order.
  const isLayer = kind === "layer", on = operands.split(", "), isTensor = ({ type }) => type !== "Constant";
  const tensors = given.flatMap(([role, node]) => (node.elts ?? [node]).filter(isTensor).map((one) => [role, one]));
  // A layer calls with its input, then its own; only ATen's embedding has the table first.
  if (isLayer && (!traced.includes("embedding") || traced.startsWith("F."))) tensors.reverse();
  const found = sides({ arguments: tensors }, (_, at) => on[at] === "cpu");
  if (found.length && tensors.length === (isLayer ? 2 : on.length)) return found;
  if (Object.keys(told).length) {
    const isIt = (device) => (betweenGpus ? device !== undefined : (device ?? "cpu") === "cpu");
    return sides(operation, (role) => isIt(entry(told, role)));
  }
  if (list) return joined(list, element, isOnCpu, betweenGpus || isOpen || argument !== "tensors");
  if (isOpen) return isLayer ? eachOfALayer(operation) : sides(operation, () => true);
  if (isLayer) return ofALayer(operation, reading);
  if (message.id === CONVOLVED) {
    const roles = isOnCpu ? ["input"] : ["weight", "bias"];
    return sides(operation, (role) => roles.includes(role));
  }
  if (!argument || betweenGpus)
    return [...sides(operation, () => true), ...(isALoss(operation) && !WITHOUT_A_WEIGHT.test(below) ? [loss] : [])];
  const isNamed = given.some(([role]) => isSame(role, argument));
  const isOfIt = isOnCpu && !isNamed && ["weight", "pos_weight"].includes(argument) && isALoss(operation);
  // "Other tensors" are the arguments before the one that is named, where there are any.
  const roles = given.map(([role]) => role).filter((role) => !NUMBERS.includes(role));
  const at = roles.findIndex((role) => isSame(role, argument)), before = at > 0 ? roles.slice(0, at) : roles.slice(1);
  const isIt = (role) => (isOnCpu ? isSame(role, argument) : before.includes(role));
  return [...(isOfIt ? [loss] : []), ...sides(operation, isIt)];
}

function sides({ arguments: given }, isAccused) {
  const found = given.filter(([role], at) => isAccused(role, at) && !NUMBERS.includes(role)), nodes = given.map(([, node]) => node);
  return found.map(([role, node]) => [role, node, nodes.filter((other) => other !== node)]);
}

/** The items of a list that may be on the CPU: the one that a message names comes after one that is not. */
function joined(list, element, isOnCpu, isOpen) {
  const all = [...items(list)], isEachOne = all.every(([, isOne]) => isOne);
  let found = all;
  if (element && isEachOne && isOnCpu) found = all.slice(Number(element)).slice(0, 1);
  else if (isEachOne && !isOpen) found = isOnCpu ? all.slice(1) : all.slice(0, 1);
  return found.map(([item, isOne]) => {
    const role = isOne || ["ListComp", "GeneratorExp"].includes(item.type) ? "tensors" : "list";
    return [role, item, all.filter(([other, isOne]) => other !== item && isOne).map(([other]) => other)];
  });
}

/** What a list is made of, and whether it is one item of it. */
function items(list) {
  const { type, elts, op, left, right } = list;
  if (["List", "Tuple"].includes(type)) return elts.map((item) => [item, item.type !== "Starred"]);
  return type === "BinOp" && op === "Add" ? [...items(left), ...items(right)] : [[list, false]];
}

/** Whether an operation is the call of a loss, which may hold weights; a function holds none. */
const isALoss = ({ kind, calls }) => kind === "function" && calls === "module";

/** What a layer was given, or the layer, whose own tensors are in the wrong place. */
function ofALayer(operation, reading) {
  const { reads, message, below } = reading, [layer, ...nodes] = operation.arguments.map(([, node]) => node);
  let argument = message.id === CONVOLVED ? "input" : (reads.argument ?? "");
  // The layer's bias is `self` of addmm, and an embedding's weight that of index_select.
  if (argument === "self" && /^(?:add|index_select)/u.test(reads.op ?? "")) argument = "weight";
  const isOnCpu = reads.device_kind === "cpu", isHidden = HIDDEN.test(argument), isAmongGpus = pair(reading) === GPUS;
  const module = ["module", layer, nodes];
  // Its arguments are not those of the function that refused them.
  if (!isHidden && nodes.length > 1 && MANY_INPUTS.test(below)) return eachOfALayer(operation);
  if (pair(reading) === CPU && isOwn(argument) === isOnCpu && !isHidden) return [module];
  const isFirst = isHidden ? !isAmongGpus : INPUTS.includes(argument) && (ONE_INPUT.test(below) || !below);
  if (argument === "offsets") nodes.shift(); // these come after the indices
  let found = isFirst ? nodes.slice(0, 1) : nodes;
  if (isHidden && isOnCpu) found = nodes.slice(1); // without one, the layer makes it where its input is
  const inputs = found.flatMap((node) => {
    if (!isHidden || node === nodes[0]) return [["input", node, [layer]]];
    const all = ["Tuple", "List"].includes(node.type) ? node.elts : [node];
    return all.map((item) => ["hidden", item, [nodes[0], layer]]);
  });
  return isAmongGpus && !isHidden ? [module, ...inputs] : inputs;
}

/** Whether an argument of the function that a layer calls is the layer's own tensor, rather than its input. */
export const isOwn = (argument) => OWN.test(argument);

function eachOfALayer(operation) {
  const [layer, ...nodes] = operation.arguments.map(([, node]) => node);
  return [["module", layer, nodes], ...nodes.map((node) => ["input", node, [layer]])];
}
