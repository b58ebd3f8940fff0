// The line to change, written on the reader's own line: what samedevice/doctor/text/changes.py and in_its_line.py are in Python.
//
// A change has its frame, what is in the wrong place (`expression`), an action ("replace", or "before" for a line above),
// the new text, why, and other lines, for `__init__`, that fix it for good (`instead`).

import { called, decidedBy, entry, load } from "./calls.js";
import { isOfAnLstm, isShownWhole } from "./candidates.js";
import { isOftenANumber, parts } from "./deciding.js";
import { isAlike, isExpression, isWhole, readLine, textOf, walk } from "./lines.js";
import { isInPlace, isLayer, LOSS, moduleOf } from "./operations.js";
import { callsAModule, isBetweenGpus } from "./refusing.js";
import { inLibrary } from "./libraries.js";
import { words } from "./tokens.js";
import { namedDevice, wantedDevice } from "./wanted.js";

const LEARNED = /weight|bias|param|embed/u; // the name of what a module learns, which is no buffer
// Calls that, made once more, change what the program does.
const TAKES_AWAY = words("next pop popleft popitem get get_nowait recv read reset step sample");
const CELL = /^(?:(?:Cell|Input) In|<ipython-input|.*\.ipynb Cell)/u;
const ASSIGNS = /^(?:[^=]{1,200}? [\-+*\/@&\|^%]?= |\w{1,80} ?: )/u; // a keyword has no blanks around its sign
const STAYS = ["created", "on the CPU", "number on the CPU"];
const NO_TENSORS = ["value", "weight", "-"]; // what an operation that writes is given as numbers

/** The change for a candidate, and with it for those of the same form in its line; null where none is known. */
export function change(candidate, among, reading) {
  const { line, node, kind, cause, role, expression } = candidate;
  if (cause === "in_place_or_copy") return replaced(candidate, `${expression} = ${line.text}`);
  if (!isWhole(line, node)) return null;
  const isSibling = (each) => each.kind === kind && each.line === line && !isOftenANumber(each.node);
  const siblings = among.filter((each) => each === candidate || isSibling(each));
  const moved = ["created", "attribute"].includes(kind) ? siblings : [candidate];
  // From the CPU all go to one device, so that the change is the same whichever it is.
  const leading = isBetweenGpus(reading) ? candidate : moved[0];
  const device = wantedDevice(leading, moved.map((each) => each.expression), reading);
  const getsAValue = kind === "total" || isTarget(candidate);
  if (!device && (getsAValue || !isWritten(candidate))) return replaced(candidate, "");
  if (isAPair(candidate)) {
    const pair = `tuple(state.to(${device}) for state in ${expression})`;
    return { ...replaced(candidate, [[node, pair]]), expression: `${expression}[0]` };
  }
  if (kind === "module") return movedModule(candidate, device, reading);
  if (getsAValue) return total(candidate, device);
  if (isWritten(candidate)) return readMoved(candidate);
  if (kind === "created")
    return replaced(candidate, siblings.map((each) => [each.node, createdOn(each.expression, device)]));
  if (role === "list") return itemsMoved(candidate, device);
  if (kind === "attribute") {
    const read = siblings.filter((each) => !isWritten(each) && !isTarget(each));
    const pieces = read.flatMap((each) => occurrences(each).map((one) => [one, `${each.expression}.to(${device})`]));
    return replaced(candidate, pieces, buffers(siblings));
  }
  // An LSTM has two, which are made together.
  if (role === "hidden" && siblings.length > 1)
    return replaced(candidate, siblings.map((each) => [each.node, movedHere(each, device)]));
  if (role === "**")
    return replaced(candidate, [[node, `{key: value.to(${device}) for key, value in ${expression}.items()}`]]);
  if (kind === "name" && canBeRebound(candidate) && !usesAVariableOf(candidate, device, expression))
    return movedAbove(candidate, device, reading, role === "input" && among.length === 1);
  return replaced(candidate, occurrences(candidate).map((one) => [one, movedHere(candidate, device)]));
}

/** Whether it is the hidden state and the cell state of an LSTM, passed as one tuple. */
const isAPair = ({ role, kind, node, operation, line }) =>
  role === "hidden" && ["name", "attribute", "item"].includes(kind) &&
  operation.arguments.some(([, given]) => given === node) && isOfAnLstm(operation, line);

const lineFix = ({ frame, expression, because }, action, text, instead = "") => {
  return { frame, expression, action, text, because, instead };
};

/** Where the line reads the same name, attribute or entry: `x - x.mean()` does twice. */
function occurrences({ line, node }) {
  const nodes = [...walk(...line.body)], { attributes } = load().devices;
  // `x.shape` need not be that of the moved one.
  const facts = nodes.filter(({ type, attr }) => type === "Attribute" && entry(attributes, attr) === "facts");
  const known = new Set([...facts.map(({ value }) => value), ...nodes.map((one) => asked(one, line))]);
  return nodes.filter((one) => isExpression(one) && !known.has(one) && isAlike(line, one, node));
}

/** What a call only asks, or moves itself: `len(x)`, `x.size(0)`, `x.to(device)`; null for other calls. */
function asked(node, line) {
  const { type, func, args } = node;
  if (type !== "Call") return null;
  if (func.type !== "Attribute") return func.id === "len" && args.length === 1 ? args[0] : null;
  // `x.to(torch.float32)` stays where it is.
  const isMoved = () => parts(node, line).every(({ kind }) => ["moved", "on the CPU"].includes(kind));
  return ["facts", "move"].includes(decidedBy(func.attr)) && isMoved() ? func.value : null;
}

/** Whether the line writes to it, so that a moved copy would be changed and thrown away. */
function isWritten({ line, operation, role, node, kind }) {
  if (!operation || !isInPlace(operation) || role !== "self") return false;
  // What it makes is used, so that it has to be where the rest is.
  if (operation.node.type === "Call" && !isAStatement(operation.node, line)) return false;
  let [[, written]] = operation.arguments;
  // `x.view(-1).add_(y)` writes to `x`, `f(x).add_(y)` to what `f` makes.
  while (written !== node) {
    const { type, func, value } = written;
    const name = type === "Call" && func.type === "Attribute" ? func.attr : "";
    const isSame = name.endsWith("_") || decidedBy(name) === "view";
    if (!isSame && !["Subscript", "Attribute"].includes(type)) return false;
    written = isSame ? func.value : value;
  }
  return kind !== "result";
}

/** Whether a call is a statement of its own, or one before the dot of it: `x.mul_(2).add_(y)`. */
function isAStatement(call, line) {
  const isIn = (node) => node === call || (["Call", "Attribute"].includes(node.type) && isIn(node.func ?? node.value));
  return line.body.some(({ type, value }) => type === "Expr" && isIn(value));
}

/** Whether it is what an augmented assignment gives a new value: `x @= y`. */
const isTarget = ({ line, node }) => line.body.some(({ type, target }) => type === "AugAssign" && target === node);

/**
 * Whether a line above can give a name a new tensor. In a function that is certain only of a name that the line itself
 * gives a value: any other may be one of the module, which an assignment would hide from the lines before it. A
 * comprehension's variable does not exist above the line.
 */
function canBeRebound({ line, expression, frame }) {
  if (!beginsAStatement(line) || variablesOf(line).includes(expression)) return false;
  const isACell = !frame.function && CELL.test(frame.file), isStored = ({ id }) => id === expression;
  return isACell || /^(?:<module>$|<cell)/u.test(frame.function) || [...line.stored].some(isStored);
}

/** The names that exist in a line only: the variables of its loops, comprehensions and lambdas. */
function variablesOf(line) {
  const nodes = [...walk(...line.body)], giving = ["For", "AsyncFor", "comprehension", "NamedExpr"];
  const targets = nodes.filter(({ type }) => giving.includes(type)).map(({ target }) => target);
  const lambdas = nodes.flatMap(({ names = [] }) => names);
  return [...[...walk(...targets)].flatMap(({ id = [] }) => id), ...lambdas];
}

/** Whether a line above the failing one can print where a candidate is, and leaves the program as it is. */
export function canBeAsked({ line, node }) {
  const nodes = [...walk(node)], own = variablesOf(line);
  const isAbove = !line.text.startsWith("elif") && !nodes.some(({ id }) => own.includes(id));
  const changes = (call) => TAKES_AWAY.includes(called(call)) || called(call).endsWith("_");
  return isAbove && !nodes.some((one) => one.type === "Call" && changes(one));
}

/** Whether code may use a variable that the line above does not have: what was cut off may be a loop. */
function usesAVariableOf({ line, frame }, ...code) {
  const names = variablesOf(line), isCertain = isShownWhole(line, frame) || code.every((each) => /^"[^"]*"$/u.test(each));
  return !isCertain || [...code.join(" ").matchAll(/[A-Za-z_]\w*/gu)].some(([name]) => names.includes(name));
}

/** Whether a line can have another above it: one of the middle of a statement looks like an expression. */
function beginsAStatement({ text, body: [{ type }] }) {
  if (text.startsWith("elif")) return false;
  if (type.endsWith("Assign")) return ASSIGNS.test(text) && !text.trimEnd().endsWith(",");
  return type === "Return" || (type !== "Expr" && text.split("#")[0].trimEnd().endsWith(":"));
}

/** An expression that is moved where it stands. */
function movedHere({ line, node }, device) {
  const isMove = node.type === "Call" && node.func.type === "Attribute" && decidedBy(called(node)) === "move";
  return isMove ? movedText(node.func.value, line, device) : movedText(node, line, device);
}

function movedText(node, line, device) {
  const text = textOf(line, node), isSimple = ["Name", "Attribute", "Subscript", "Call"].includes(node.type);
  return isSimple ? `${text}.to(${device})` : `(${text}).to(${device})`;
}

/** The change of the line: each node, the outermost of them, becomes its text; or a whole new line. */
function replaced(candidate, pieces, instead) {
  if (typeof pieces === "string") return lineFix(candidate, "replace", pieces);
  const { line } = candidate, characters = [...line.characters], byPlace = new Map();
  for (const [node, text] of pieces) if (isWhole(line, node)) byPlace.set(`${node.start} ${node.end}`, [node, text]);
  const all = [...byPlace.values()];
  const isInner = ([one]) => all.some(([other]) => other !== one && other.start <= one.start && one.end <= other.end);
  const outermost = all.filter((piece) => !isInner(piece)).sort(([one], [other]) => other.start - one.start);
  for (const [{ start, end }, text] of outermost) characters.splice(start, end - start, text);
  return lineFix(candidate, "replace", characters.join(""), instead);
}

/**
 * The lines that make buffers of plain attributes of `self`; "" for what a module learns.
 * A plain attribute was in no checkpoint, so the buffer is in none: old ones load as before.
 */
function buffers(siblings) {
  const own = siblings.filter(({ node, expression }) => expression === `self.${node.attr}`).map(({ node }) => node.attr);
  const names = [...new Set(own)].filter((name) => !LEARNED.test(name));
  return names.map((name) => `self.register_buffer("${name}", ..., persistent=False)`).join("\n");
}

/** A factory's call with `device=`; what takes none is moved. */
function createdOn(call, device) {
  const name = call.split("(")[0].split(".").at(-1);
  if (entry(load().devices.functions, name) === "cpu" || !call.endsWith(")")) return `${call}.to(${device})`;
  const inner = withoutComma(call);
  return `${inner}${inner.endsWith("(") ? "" : ", "}device=${device})`;
}

/** A call without its last bracket, and without a comma before it. */
export const withoutComma = (call) => call.slice(0, -1).trimEnd().replace(/,+$/u, "");

/** What the line adds to is moved above it, where its name can be given a new tensor; else what is added. */
function total(candidate, device) {
  const { operation: { node }, expression } = candidate, target = node.type === "AugAssign" ? node.target : null;
  // `totals["loss"]` is an entry of a dict, `x[0]` may be a part of a tensor, which has no other device.
  const isWhole = target?.slice?.kind === "str" || ["Name", "Attribute"].includes(target?.type);
  if (target !== candidate.node || !isWhole || usesAVariableOf(candidate, device)) return readMoved(candidate);
  return lineFix(candidate, "before", `${expression} = ${expression}.to(${device})`);
}

/** What the line reads is moved to where it writes: all that are tensors, rather than numbers, in most programs. */
function readMoved(candidate) {
  const { line, operation, node, others } = candidate;
  const device = `${textOf(line, operation?.node.target ?? node)}.device`;
  const roleOf = (other) => operation?.arguments.find(([, each]) => each === other)?.[0] ?? "";
  const mayBeANumber = (other) => parts(other, line).every((part) => isOftenANumber(part.node));
  const read = others.filter((other) => {
    const role = roleOf(other), hasToMove = parts(other, line).some(({ kind }) => !STAYS.includes(kind));
    return hasToMove && !NO_TENSORS.includes(role) && (!["", "other"].includes(role) || !mayBeANumber(other));
  });
  return replaced(candidate, read.map((other) => [other, movedText(other, line, device)]));
}

/** Each item of a list is moved. */
function itemsMoved(candidate, device) {
  const { node, expression: name } = candidate, items = `[item.to(${device}) for item in ${name}]`;
  const isAbove = node.type === "Name" && canBeRebound(candidate);
  return isAbove ? lineFix(candidate, "before", `${name} = ${items}`) : replaced(candidate, [[node, items]]);
}

/** A tensor is moved above the line that passes it: the input of a layer where the program has it, not in `forward`. */
function movedAbove(candidate, device, reading, isTheInput) {
  const { frame, expression: name, because } = candidate;
  const [outer, passed] = isTheInput ? passedFrom(frame, name, reading) : [frame, name];
  const to = outer === frame ? device : namedDevice(outer, reading);
  return lineFix({ frame: outer, expression: passed, because }, "before", `${passed} = ${passed}.to(${to})`);
}

/** The reader's own frames that show their code, outside of one of them. */
function outside(frame, { frames }) {
  const own = frames.filter((each) => each.code && !inLibrary(each));
  const isSame = (each) => ["file", "line", "function", "code"].every((name) => each[name] === frame[name]);
  return own.slice(0, Math.max(0, own.findIndex(isSame)));
}

/** Follow the one argument of `forward` outwards, to the line where the program has it. */
function passedFrom(frame, name, reading) {
  const outer = outside(frame, reading);
  while (outer.length && ["forward", "__call__"].includes(frame.function.split(".").at(-1))) {
    const [given, ...others] = argumentsOfALayer(outer.at(-1));
    if (given?.type !== "Name" || others.length) break;
    [frame, name] = [outer.pop(), given.id];
  }
  return [frame, name];
}

/** What the first call of a module in a frame's line is given without a keyword. */
function argumentsOfALayer({ code }) {
  const nodes = [...walk(...(readLine(code)?.body ?? []))];
  return nodes.find(({ type, func }) => type === "Call" && isLayer(func))?.args ?? [];
}

/** A module is moved: a loss where it stands, a layer with the model that the outermost frame calls, if it names it. */
function movedModule(candidate, device, reading) {
  const { expression: name, node, cause, frame } = candidate;
  const here = replaced(candidate, [[node, `${name}.to(${device})`]]);
  if (cause === "submodule_created_in_forward")
    return { ...here, instead: `self.${called(node).toLowerCase()} = ${name}` };
  const canBeAbove = beginsAStatement(candidate.line) && !usesAVariableOf(candidate, device, name);
  const isAPart = cause !== "loss_weight_not_moved" && node.type === "Attribute" && !isBetweenGpus(reading);
  for (const outer of isAPart ? outside(frame, reading) : []) {
    const model = calledModel(outer, reading);
    if (model && beginsAStatement(readLine(outer.code)))
      return lineFix({ ...candidate, frame: outer }, "before", `${model}.to(${namedDevice(outer, reading)})`);
  }
  return canBeAbove ? lineFix(candidate, "before", `${name}.to(${device})`) : here;
}

/** The model that a frame's line calls; "" where it calls none. */
function calledModel(frame, reading) {
  const line = callsAModule(frame, reading) ? readLine(frame.code) : null;
  const calls = [...walk(...(line?.body ?? []))].filter(({ type }) => type === "Call");
  const isALoss = ({ func }) => LOSS.test(textOf(line, func));
  for (const { func } of [...calls.filter((call) => !isALoss(call)), ...calls.filter(isALoss)]) {
    const module = moduleOf(func);
    if (["Name", "Attribute"].includes(module.type) && isLayer(module)) return textOf(line, module);
  }
  return "";
}
