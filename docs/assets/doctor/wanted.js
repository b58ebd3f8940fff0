// On which device a tensor is wanted, that of what it met, else the program's own name for its device: what
// samedevice/doctor/text/wanted.py is in Python.

import { isOwn } from "./accused.js";
import { called, deviceArgument, entry, load } from "./calls.js";
import { within } from "./candidates.js";
import { isOftenANumber, JOINING, parts } from "./deciding.js";
import { isWhole, textOf, walk } from "./lines.js";
import { isTorch, namesAModule, operations } from "./operations.js";
import { INDEXED, isBetweenGpus, isSame, MANY_INPUTS } from "./refusing.js";
import { words } from "./tokens.js";

const NAMED_DEVICE = /\b(?:to\(|device ?= ?)((?:self\.|args\.|cfg\.|config\.)?device)\b/u;
const WITH_A_WEIGHT = /torch\/nn\/modules\/(?:sparse|linear|conv|batchnorm|normalization)\.py/u;
const LIBRARIES = words("torch np numpy self F nn args cfg config"); // `np.float32` has no device
const ACCELERATOR = /^(?:cuda|xpu|mps|npu|hpu)(?::\d{1,3})?$/u;
const CLASS = /^[A-Z][a-z]/u;

/**
 * The device where a candidate is wanted; "" between two GPUs, where nothing tells which of them it is. The devices of
 * the expressions that move with it (`moved`) tell nothing.
 */
export function wantedDevice(candidate, moved, reading) {
  const { line, operation, role, others, expression } = candidate;
  const module = operation?.kind === "layer" ? operation.arguments[0][1] : null;
  const ofALayer = role === "input" && others.includes(module) ? deviceOfALayer(module, candidate, reading) : "";
  if (ofALayer) return ofALayer;
  if (operation?.kind === "index" && role === "self") {
    const [index] = others, indices = index.type === "Tuple" ? index.elts : [index];
    const named = indices.filter(({ type }) => ["Name", "Attribute"].includes(type));
    if (named.length === 1) return `${textOf(line, named[0])}.device`; // it is a tensor, whatever its name
  }
  const like = candidate.kind === "created" ? deviceOfALike(candidate) : "";
  if (like) return like;
  const layers = [...operations(line)].filter((each) => each.kind === "layer").map((each) => each.arguments[0][1]);
  const told = others.filter((other) => !layers.includes(other)).map((other) => where(other, line));
  // Where one tensor decides, it is surely no number on the CPU, which PyTorch accepts beside others.
  const nodes = told.sort((one, other) => one.length - other.length).flat(), met = others.flatMap((other) => [...parts(other, line)]);
  const isAlone = nodes.length === 1 && met.length === 1;
  // What is added to may have begun as a number.
  const isATotal = (node) => line.body.some(({ type, target }) => type === "AugAssign" && target === node);
  const surely = nodes.filter((node) => !isOftenANumber(node) && (isAlone || !isATotal(node)));
  const isStored = ({ type, id }) => type === "Name" && [...line.stored].some((target) => target.id === id);
  surely.sort((one, other) => isStored(one) - isStored(other));
  // Between two GPUs it can be no number, which has no device.
  const isTold = isAlone && isBetweenGpus(reading) && operation?.isElementwise;
  for (const node of surely.length || !isTold ? surely : nodes) {
    const text = textOf(line, node), isACall = node.type === "Call", movedTo = isACall && deviceMovedTo(node, line);
    if (movedTo && !movedTo.startsWith(`${expression}.`)) return movedTo;
    if (!isACall && isWhole(line, node) && !moved.includes(text) && !text.includes(expression)) return `${text}.device`;
  }
  return namedInMessage(candidate, reading);
}

/** What tells where an expression is: names, and calls that say where they move. */
function where(node, line) {
  return parts(node, line).flatMap(({ kind, isOneNumber, node: inner }) => {
    if (isOneNumber) return [];
    if (["moved", "name", "attribute", "item"].includes(kind)) return [inner];
    if (kind !== "result" || inner.type !== "Call" || inner.func.type !== "Attribute") return [];
    // What a method of a tensor or a function of PyTorch makes is where its operands are.
    const { func, args } = inner, { devices, operations } = load();
    const isAMethod = entry(devices.methods, func.attr) !== undefined || entry(operations, func.attr) !== undefined;
    if (isTorch(func.value, line)) return JOINING.includes(func.attr) ? [] : args.flatMap((each) => where(each, line));
    const operands = isAMethod ? [func.value] : [];
    return operands.flatMap((operand) => where(operand, line));
  });
}

/** The device of a layer; "" for what may be a function, beside another layer in its line. */
function deviceOfALayer(layer, { line, operation }, { below }) {
  const isAlone = [...operations(line)].filter(({ kind }) => kind === "layer").length === 1;
  if (layer.id?.startsWith("_") || !isWhole(line, layer) || !(isAlone || namesAModule(operation))) return "";
  const text = textOf(line, layer), isPlain = WITH_A_WEIGHT.test(below) && !below.includes("container.py");
  return isPlain ? `${text}.weight.device` : `next(${text}.parameters()).device`;
}

/** The device to which a call moves, or on which it creates; "" where it is not written. */
function deviceMovedTo(node, line) {
  const { args: [first] } = node, device = deviceArgument(node) ?? (called(node) === "to" ? first : null);
  if (called(node) === "cuda") return first ? `f"cuda:{${textOf(line, first)}}"` : '"cuda"';
  if (!device) return "";
  const text = textOf(line, device), { type, attr } = device, isConstant = type === "Constant";
  const isADevice = isConstant || type === "Name" || (type === "Attribute" && attr.includes("device"));
  return isADevice && (isConstant || text.includes("device")) ? text : "";
}

/** The device of the tensor whose size or type a factory's call asks for; "" where it asks for none. */
function deviceOfALike({ node }) {
  for (const { type, func, attr, value } of node.type === "Call" ? walk(node) : []) {
    let asked = null;
    if (type === "Call" && func.type === "Attribute" && func.attr === "size") asked = func.value;
    if (type === "Attribute" && ["shape", "dtype"].includes(attr)) asked = value;
    if (asked?.type === "Name" && !LIBRARIES.includes(asked.id) && !CLASS.test(asked.id)) return `${asked.id}.device`;
  }
  return "";
}

/** The program's name for its device, or the message's: of two GPUs the one that the candidate is not on. */
function namedInMessage({ frame, kind, role, node, operation }, reading) {
  const { reads, message, below } = reading, { argument = "" } = reads;
  if (NAMED_DEVICE.test(frame.code) || !isBetweenGpus(reading)) return namedDevice(frame, reading);
  let isNamed = argument && role ? isSame(role, argument) : null;
  if (kind === "module") isNamed = argument ? isOwn(argument) : null;
  // The first is where the message says that others are.
  else if (role === "tensors" && argument === "tensors") isNamed = !isInTheFirstItem(node, operation);
  else if (MANY_INPUTS.test(below) || operation?.isOpen) isNamed = null;
  else if (operation?.kind === "layer" && role === "input" && argument) isNamed = !isOwn(argument);
  if (message.id === INDEXED) isNamed = role === "index" || null;
  const told = isNamed === null ? "" : isNamed ? reads.others : reads.device;
  return told ? `"${told}"` : "";
}

/** Whether a tensor is in the first item of what an operation joins. */
function isInTheFirstItem(node, { arguments: given }) {
  const first = given.find(([role]) => role === "tensors")?.[1].elts?.[0];
  return first !== undefined && within(node, first);
}

/** The name that a frame's line has for its device; else the device itself, as the message has it. */
export function namedDevice({ code }, { reads }) {
  const device = [reads.device, reads.others].find((one) => ACCELERATOR.test(one ?? ""));
  return NAMED_DEVICE.exec(code)?.[1] ?? `"${device ?? "cuda"}"`;
}
