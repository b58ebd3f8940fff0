// Which operations of the failing line could raise the message: what samedevice/doctor/text/refusing.py is in Python.
// Three things tell: what the message names, what Python underlines, and the frames below: an operator, and a function
// that is written in C++, has none there.

import { isOnCpu, parts } from "./deciding.js";
import { textOf, walk } from "./lines.js";
import { operations, WITHOUT_WEIGHTS } from "./operations.js";
import { inLibrary, packageOf } from "./libraries.js";

export const CPU = "cpu and accelerator", GPUS = "two accelerators";
const OF_A_LAYER = /^(?:weight|bias|running_mean|running_var|mat[12]|input|index|indices|hx|cx|hidden|parameter)$/u;
export const LAYER_OPS = new RegExp(
  String.raw`^(?:(?:add|b|baddb)?m[mv]|addmm|linear|\w*conv\w*|\w*norm\w*|index_select|embedding\w*|\w*lstm\w*|\w*gru\w*` +
    String.raw`|\w*rnn\w*|prelu\w*|\w*attention\w*)$`,
  "u",
);
// What messages that name each argument with its device call them, and what they are elsewhere.
const ALL_NAMED = { query: "query", key: "key", value: "value", condition: "condition", x: "self", y: "other" };
export const INDEXED = "SD030", CONVOLVED = "SD020"; // messages that say which part of the line it is
// Messages of one function, which accept no number on the CPU.
export const OF_A_FUNCTION = { SD032: "cat", SD033: "where", SD022: "scaled_dot_product_attention" };
// Modules whose arguments are not those of the function in which two tensors meet.
export const MANY_INPUTS = /F\.bilinear|multi_head_attention_forward|torch\/nn\/modules\/transformer\.py/u;
const SYNONYMS = [
  "self input", "index indices", "values value", "mat1 mat", "mat1 batch1", "mat2 batch2", "mat2 vec", "mat2 tensor",
];

/** The operations of a line that could raise the message. What the three leave nothing of does not count. */
export function refused(line, frame, reading) {
  const below = callsBelow(frame, reading), hasLosses = reading.below.includes("torch/nn/modules/loss.py");
  let all = [...operations(line, hasLosses)].filter((each) => mixes(each, line));
  const orElse = (some, others) => (some.length ? some : others);
  // What is written in C++ has no frame, and a method of the program's own has one.
  if (below !== "") all = all.filter(({ kind }) => kind !== "method");
  if (below) {
    const inPython = all.filter((each) => each.calls);
    const called = below === "module" ? [below] : [below, "either"];
    all = orElse(inPython.filter((each) => called.includes(each.calls)), inPython);
  } else if (below !== null) all = orElse(all.filter((each) => ["", "either"].includes(each.calls)), all);
  if (MANY_INPUTS.test(reading.below))
    all = orElse(all.filter((each) => each.kind === "layer" && each.arguments.length > 2), all); // the first is the layer
  let fitting = all.filter((operation) => fits(operation, line, frame, reading));
  const isACounter = ([, [, { type, id }]]) => type === "Name" && ["i", "j", "k"].includes(id); // of a loop
  fitting = orElse(fitting.filter((each) => each.kind !== "index" || !isACounter(each.arguments)), fitting);
  if (marksOne(frame, line)) {
    const marked = all.filter((operation) => isMarked(operation, frame));
    return orElse(marked.filter((each) => fitting.includes(each)), open(marked, frame, reading));
  }
  // The frames below may have been left out.
  if (!fitting.length && below === "")
    fitting = [...operations(line)].filter((one) => {
      return one.kind !== "method" && mixes(one, line) && fits(one, line, frame, reading);
    });
  fitting = orElse(fitting, open(all, frame, reading));
  const [start, end] = frame.marked;
  return orElse(fitting.filter(({ node }) => start <= node.start && node.end <= end), fitting);
}

/** Whether Python underlines an operation; of `x[i] = y` it underlines `x[i]`. */
export const isMarked = ({ node }, frame) => isUnderlined(node.type === "Assign" ? node.targets[0] : node, frame);

const isUnderlined = ({ start, end }, { marked }) => start === marked[0] && end === marked[1];

/** Whether Python underlines just one operation or call of a line: then it is no other that failed. */
function marksOne(frame, line) {
  const isOne = (node) => ["Call", "BinOp", "Compare", "Subscript"].includes(node.type) && isUnderlined(node, frame);
  return frame.marked.length > 0 && [...walk(...line.body)].some(isOne);
}

/** Whether two tensors can meet in an operation, of which not both are known to be on the CPU. */
function mixes({ kind, arguments: passed, calls }, line) {
  const given = passed.filter(([role]) => role !== "-"), isA = (node, ...types) => types.includes(node.type);
  // A wrapper's `func(*args, **kwargs)` tells nothing, and who is given numbers only makes a tensor.
  if (kind === "layer") return !given.slice(1).every(([role, node]) => isA(node, "Starred", "Constant") || role === "**");
  if (["index", "assignment"].includes(kind) || calls === "module") return true;
  if (given.some(([role, node]) => ["tensors", "**"].includes(role) || isA(node, "Starred", "ListComp"))) return true;
  const [one, other] = given.map(([, node]) => textOf(line, node));
  if (given.length === 2 && one === other) return false; // the same tensor twice
  const found = given.map(([, node]) => parts(node, line)).filter(({ length }) => length);
  return found.length > 1 && !found.flat().every(isOnCpu);
}

const isCalled = (kind) => ["function", "method"].includes(kind);

/** The one function or layer that is left, of which the message does not tell which operand it is. */
function open(all, frame, reading) {
  const { base, id } = reading.message;
  if (base !== "mixed-devices" || [INDEXED, CONVOLVED].includes(id)) return [];
  // What a module refused that shows no frames may stand anywhere in it.
  const isOpen = ({ kind }) => isCalled(kind) || (kind === "layer" && callsBelow(frame, reading) === "module");
  const calls = all.filter(isOpen).map((operation) => ({ ...operation, isOpen: true }));
  return calls.length === 1 || !reading.reads.argument ? calls : [];
}

/** What of PyTorch's is called below a frame: "module" or "function"; "" for nothing, null if it is open. */
function callsBelow(frame, { frames, trace }) {
  if (!frame.file) return null;
  const inner = following(frame, frames);
  if (!inner) return frames.length > 1 || trace.includes("Traceback (most recent call last)") ? "" : null;
  if (/torch\/(?:nn\/)?functional\.py/u.test(inner.file)) return "function";
  return inner.file.includes("torch/nn/") ? "module" : null;
}

const following = (frame, frames) => frames[frames.indexOf(frame) + 1 || frames.length];

/** Whether an operation of this kind can raise the message. */
function fits({ kind, op: named, arguments: given, isElementwise, isOpen }, line, frame, reading) {
  const { reads: { argument = "", op: read = "" }, message: { id } } = reading;
  const isALayer = kind === "layer" && callsAModule(frame, reading), isNamed = (op) => isAll(named, op);
  if (id === INDEXED) return kind === "index";
  if (![CPU, GPUS].includes(pair(reading))) return false;
  if (id in OF_A_FUNCTION) return kind === "function" && isNamed(OF_A_FUNCTION[id]);
  if (id === CONVOLVED) return isALayer || (kind === "function" && named.includes("conv"));
  const op = read.replace(/_out$/u, ""), plain = op.replace(/^_+|_+$/gu, "");
  if (!argument) return op ? isNamed(op.split(".").at(-1)) : isElementwise || isOpen;
  if (kind !== "layer") return op ? isNamed(plain) : given.some(([role]) => isSame(role, argument));
  const [[, layer]] = given, hasNoWeights = WITHOUT_WEIGHTS.test(textOf(line, layer).split(".").at(-1));
  if (!isALayer || (hasNoWeights && layer.type !== "Call")) return false;
  return (op ? LAYER_OPS : OF_A_LAYER).test(plain || argument);
}

/** Whether a pattern matches all of a text. */
function isAll(pattern, text) {
  if (!patterns.has(pattern)) patterns.set(pattern, new RegExp(`^(?:${pattern})$`, "u"));
  return pattern !== "" && patterns.get(pattern).test(text);
}

const patterns = new Map();

/** Between what the tensors met; a message that names no devices is taken to be about the CPU and a GPU. */
export function pair(reading) {
  const { reads, message } = reading, devices = Object.values(toldDevices(reading));
  if (devices.length) return devices.includes("cpu") ? CPU : GPUS;
  const isTold = isReadOf(reads) || message.title.toLowerCase().includes("meta");
  return reads.between || (message.base === "mixed-devices" && !isTold ? CPU : "");
}

const isReadOf = (reads) => "device" in reads || "others" in reads;

/** Whether the message says of no tensor where it is. */
export const namesNoDevice = (reading) => !isReadOf(reading.reads) && !Object.keys(toldDevices(reading)).length;

/** The device of each argument, by PyTorch's name for it, where the message names them all. */
export function toldDevices({ reads }) {
  const told = Object.entries(ALL_NAMED).filter(([name]) => name in reads);
  return Object.fromEntries(told.map(([name, role]) => [role, reads[name].toLowerCase()]));
}

/** Whether the message is about two accelerators, neither of which is the CPU. */
export const isBetweenGpus = (reading) =>
  pair(reading) === GPUS || (reading.message.id === INDEXED && reading.reads.others_kind === "accelerator");

/** Whether the line of a frame called a module, by the frame inside it; true where none is shown. */
export function callsAModule(frame, { frames }) {
  const inner = following(frame, frames);
  if (!inner) return true;
  if (inLibrary(inner)) return packageOf(inner) === "" && inner.file.includes("torch/nn/");
  return ["forward", "__call__", ""].includes(inner.function.split(".").at(-1));
}

export const isSame = (role, argument) =>
  role === argument || SYNONYMS.some((two) => [`${role} ${argument}`, `${argument} ${role}`].includes(two));
