// Which tensor of the failing line is in the wrong place, read from the line and from what the message names. What
// samedevice/doctor/text/failing_line.py is in Python. A suspect has a frame, its statement, the node in it, a cause,
// its points, why it is suspected, and what it met (`other`).

import { readStatement, textOf, walk } from "./expressions.js";
import { decidedBy, ELEMENTWISE, isFactory, isSelf, leaves, LOSS, operations, placeOf } from "./line-operations.js";
import { inLibrary, packageOf } from "./traceback.js";

// How sure a reading is, on the scale of the catalog's points.
const CERTAIN = 6.5, LIKELY = 3.5, POSSIBLE = 1.5;

const whole = (pattern, flags = "u") => new RegExp(`^(?:${pattern})$`, flags);
const OWN = whole(String.raw`weight|bias|running_mean|running_var|mat2|weight_\w+`); // of a layer
const OF_A_LAYER = whole("weight|bias|running_mean|running_var|mat[12]|input|index|indices|hx|cx|hidden");
const INPUTS = ["input", "index", "indices", "mat1", "self", "src"]; // what a batch is passed for
const HIDDEN = whole(
  String.raw`hx|cx|hidden\w*|(?:self\.)?(?:h|c|hidden|state|init_hidden|hc|h_?[0t]|c_?[0t])\w{0,2}`,
);
const LAYER_OPS = whole(
  String.raw`(?:add|b|baddb)?m[mv]|addmm|linear|\w*conv\w*|\w*norm\w*|index_select|embedding\w*|\w*lstm\w*|\w*gru\w*` +
    String.raw`|\w*rnn\w*|prelu\w*|\w*attention\w*`,
);
// A line of a paste that may be code, without the signs that quote it.
const CODE = new RegExp(
  String.raw`^(?:>{1,3} ?|${"`"}{1,3}|-{1,8}> ?\d{1,6} )?` +
    String.raw`(?<code>(?:[\w.\[\], ]{1,80} ?[\-+*\/@]?= ?|return )[^=${"`"}][^${"`"}]{2,300}` +
    String.raw`|[\w.]{1,80}\([^${"`"}]{1,300}\))(?:${"`"}|$)`,
  "u",
);
const OF_PROSE = 0.95;
const OF_A_LIBRARY = 5.5, IN_A_LIBRARY = 4; // where two tensors met in a library's own line; in what that line calls
const INDEXED = ["SD030"], INPUT_AND_WEIGHT = ["SD020"]; // messages that say which part of the line it is
const MODULE = /model|net|module|criterion|loss|encoder|decoder|classifier|metric|pipe/iu;
const LIBRARIES_OF_OPERATIONS = ["torchvision", "torchaudio", "torchmetrics"]; // they are given the user's tensors
const WITHOUT_WEIGHTS = /pool|relu|gelu|sigmoid|tanh|softmax|dropout|flatten|upsample|^act|^pad/iu; // of a layer
const RECURRENT = /\w*(?:lstm|gru|rnn)\w*/iu;

const known = new WeakMap(); // the suspects of a reading are asked for twice

/** What may be in the wrong place in the failing line, in the line's order. */
export function suspects(catalog, reading) {
  if (!known.has(reading)) known.set(reading, suspectsOf(catalog, reading));
  return known.get(reading);
}

function suspectsOf(catalog, reading) {
  if (!reading.frames.length) return ofProse(catalog, reading);
  const { libraryFrame, place } = reading;
  if (libraryFrame) {
    const found = ofLine(catalog, libraryFrame, reading);
    if (!found.length) return libraryAlone(catalog, libraryFrame, reading);
    return found.map((suspect) => ofALibrary(suspect, libraryFrame));
  }
  const found = place && place.code && !inLibrary(place) ? ofLine(catalog, place, reading) : [];
  const thrownAway = (statement) => discardedMove(catalog, statement);
  // A move that was thrown away stands above the line that fails.
  const above = reading.frames.filter((frame) => frame.code && !inLibrary(frame) && frame !== place);
  return [...found, ...above.flatMap((frame) => suspected(frame, readStatement(frame.code), thrownAway))];
}

/** The suspects that `find` yields for a frame's statement. */
function suspected(frame, statement, find) {
  return [...find(statement)].map(([node, cause, points, because, other = null]) => {
    return { frame, statement, node, cause, points, because, other, expression: textOf(statement, node) };
  });
}

function ofLine(catalog, frame, reading) {
  const statement = readStatement(frame.code);
  let done = [...operations(catalog, statement)];
  const marked = done.filter((operation) => isMarked(operation.node, frame));
  if (marked.length) done = marked;
  let found = suspected(frame, statement, () => foundIn(catalog, done, statement, frame, reading));
  if (!found.length && mayBeCreated(reading)) found = suspected(frame, statement, () => created(catalog, statement));
  return [...found, ...suspected(frame, statement, () => discardedMove(catalog, statement))];
}

const mayBeCreated = ({ message }) =>
  message.causes.some((cause) => cause.id === "tensor_created_in_forward_without_device");

/** What a line creates without a device, wherever in the line that is. */
function* created(catalog, statement) {
  const moved = new Set();
  if (statement.targets.some((target) => target.kind === "attribute")) return; // `self.steps = torch.linspace(0, 1, 8)`
  for (const node of walk(statement.value)) {
    const place = node.kind === "call" && !moved.has(node) ? placeOf(catalog, node, statement) : null;
    if (place?.kind === "moved") for (const inner of walk(node)) moved.add(inner);
    if (place?.kind === "created" && place.node === node)
      yield [node, "tensor_created_in_forward_without_device", LIKELY, isCreated(textOf(statement, node))];
  }
}

const isCreated = (text) => `\`${text}\` is created in this line without a device.`;
const isAnAttribute = (text) =>
  `\`${text}\` is an attribute: \`.to(device)\` moves it only if it is a parameter or a buffer.`;

/** The tensor of a line that is `x.to(device)` and nothing else: what it returns is thrown away. */
function* discardedMove(catalog, statement) {
  const node = statement.value, called = node.parts[0];
  if (statement.targets.length || node.kind !== "call" || called.kind !== "attribute") return;
  const moved = called.parts[0];
  if (decidedBy(catalog, called) !== "move" || moved.kind !== "name" || MODULE.test(moved.name)) return;
  const because = `\`${textOf(statement, node)}\` returns the moved tensor, and the line throws it away.`;
  yield [moved, "in_place_or_copy", CERTAIN, because];
}

/** Blame the library for what its own line creates or keeps; what it was given may be the user's. */
function ofALibrary(suspect, frame) {
  if (!["tensor_created_in_forward_without_device", "unregistered_tensor_attribute"].includes(suspect.cause))
    return { ...suspect, because: "" };
  const because = `The line that failed is ${packageOf(frame)}'s own, and so is \`${suspect.expression}\`.`;
  return { ...suspect, cause: "library_bug", because };
}

/** Whether the line of a frame called a module, by the frame inside it; true where none is shown. */
export function callsAModule(frame, { frames }) {
  const inner = frames[frames.indexOf(frame) + 1];
  if (!inner || !frames.includes(frame)) return true;
  if (inLibrary(inner)) return !packageOf(inner) && inner.file.includes("torch/nn/");
  return ["forward", "__call__", ""].includes(inner.function.split(".").at(-1));
}

/** Blame a library where two tensors met in its own line, and the message names neither. */
function libraryAlone(catalog, frame, { reads }) {
  const statement = readStatement(frame.code), name = packageOf(frame);
  const isMixed = reads.between === "cpu and accelerator" && !OF_A_LAYER.test(reads.argument ?? "");
  if (!isMixed || LIBRARIES_OF_OPERATIONS.includes(name)) return [];
  const isAnOperator = [...operations(catalog, statement)].some(({ kind }) => ["operator", "function"].includes(kind));
  const points = isAnOperator ? OF_A_LIBRARY : IN_A_LIBRARY, because = `The line that failed is ${name}'s own.`;
  return suspected(frame, statement, () => [[statement.value, "library_bug", points, because]]);
}

/** Of the lines of code that stand in a paste without a traceback: what they create or keep themselves. */
function ofProse(catalog, reading) {
  const found = [], moved = new Map();
  // Whether a line creates a tensor that another line of the paste moves.
  const isMovedLater = ({ kind, name }) => {
    if (kind !== "name") return false;
    if (!moved.has(name)) moved.set(name, [".to(", ".cuda("].some((move) => reading.trace.includes(`${name}${move}`)));
    return moved.get(name);
  };
  for (const line of reading.trace.split("\n")) {
    const code = CODE.exec(line)?.groups.code;
    if (!code) continue;
    const frame = { file: "", line: 0, function: "", code, marked: [] };
    const here = ofLine(catalog, frame, reading).filter(({ points }) => points >= LIKELY);
    found.push(...here.filter(({ statement }) => !statement.targets.some(isMovedLater)));
  }
  return found.map((suspect) => ({ ...suspect, points: suspect.points * OF_PROSE }));
}

function* foundIn(catalog, done, statement, frame, reading) {
  const { reads, message } = reading, { argument = "", op = "" } = reads, isOnCpu = reads.device_kind === "cpu";
  const layers = callsAModule(frame, reading) ? done.filter(({ kind }) => kind === "layer") : [];
  if (INDEXED.includes(message.id)) {
    const those = done.filter(({ kind }) => kind === "index");
    for (const operation of those) yield* indexed(catalog, operation, statement, those.length === 1);
  } else if (reads.between !== "cpu and accelerator") {
    return;
  } else if (INPUT_AND_WEIGHT.includes(message.id)) {
    for (const operation of layers) yield* accused(catalog, operation, "input", "", isOnCpu, statement);
  } else if (argument) {
    let fitting = done.filter((operation) => operation.op && op && pattern(operation.op).test(op));
    if (!fitting.length && (op ? LAYER_OPS.test(op) : OF_A_LAYER.test(argument))) fitting = layers;
    for (const operation of fitting) yield* accused(catalog, operation, argument, op, isOnCpu, statement);
  } else {
    for (const operation of done) yield* mixed(catalog, operation, statement);
  }
}

const patterns = new Map(); // of the catalog's operations

function pattern(op) {
  if (!patterns.has(op)) patterns.set(op, whole(op));
  return patterns.get(op);
}

/** What an operation was given for the argument that a message names; for a layer its input or its own. */
function* accused(catalog, operation, argument, op, isOnCpu, statement) {
  if (operation.kind === "layer") {
    const [[, layer], ...given] = operation.arguments;
    if (OWN.test(argument) === isOnCpu) return yield* ofALayer(layer, given, statement);
    const isHidden = RECURRENT.test(op) && HIDDEN.test(argument);
    for (const [number, [, node]] of given.entries())
      if (isHidden === number > 0 || given.length === 1)
        yield* passed(catalog, node, operation, isHidden ? "hidden" : "input", statement, layer);
    return;
  }
  const [same, different] = [true, false].map((is) => {
    return operation.arguments.filter(([role]) => isSame(role, argument) === is).map(([, node]) => node);
  });
  const [loss] = operation.node.parts, isWeight = ["weight", "pos_weight"].includes(argument);
  if (isOnCpu && !same.length && isWeight && operation.kind === "function") {
    const text = textOf(statement, loss), isNamed = ["name", "attribute"].includes(loss.kind);
    if (isNamed && LOSS.test(text) && different.length)
      yield [loss, "loss_weight_not_moved", LIKELY, `\`${text}\` holds the weights of the loss.`, different.at(-1)];
  }
  const [named, others] = isOnCpu ? [same, different] : [different, same];
  for (const node of named) {
    const items = argument === "tensors" && node.kind === "group" ? node.parts : [node];
    const kept = items.filter((item) => !["created", "attribute"].includes(placeOf(catalog, item, statement).kind));
    const other = [...others, ...kept].find((met) => placeOf(catalog, met, statement).kind !== "number") ?? null;
    for (const item of items) yield* passed(catalog, item, operation, isOnCpu ? argument : "", statement, other);
  }
}

const ALIKE = [["self", "input"], ["index", "indices"], ["values", "value"]];
const isSame = (role, argument) =>
  role === argument || ALIKE.some((pair) => pair.includes(role) && pair.includes(argument));

/** A layer whose own tensors are on the CPU. */
function* ofALayer(layer, given, statement) {
  const other = given[0]?.[1] ?? null, name = textOf(statement, layer);
  if (layer.kind === "call") {
    const because = `\`${name}\` is created in the line that calls it.`;
    yield [layer, "submodule_created_in_forward", CERTAIN, because, other];
  } else if (LOSS.test(name)) {
    yield [layer, "loss_weight_not_moved", LIKELY, `\`${name}\` is a loss with weights of its own.`, other];
  } else if (!WITHOUT_WEIGHTS.test(name.split(".").at(-1))) {
    yield [layer, "model_not_moved", LIKELY, `The weights of \`${name}\` are on the CPU.`, other];
  }
}

/** What was passed from the CPU, by what the line says of it. */
function* passed(catalog, passedNode, operation, role, statement, other) {
  const { kind, node } = placeOf(catalog, passedNode, statement), text = textOf(statement, node);
  const isACall = ["layer", "function"].includes(operation.kind);
  const called = isACall ? textOf(statement, operation.node.parts[0]) : "";
  const isLoss = LOSS.test(called) || operation.op.includes("loss"), ofLoss = role === "weight" && isLoss;
  if (kind === "created") {
    if (ofLoss) yield [node, "loss_weight_not_moved", CERTAIN, isCreated(text), other];
    yield [node, "tensor_created_in_forward_without_device", CERTAIN, isCreated(text), other];
  } else if (kind === "attribute") {
    if (ofLoss) yield [node, "loss_weight_not_moved", LIKELY, `\`${text}\` holds the weights of the loss.`, other];
    else yield [node, "unregistered_tensor_attribute", LIKELY, isAnAttribute(text), other];
  } else if (role === "target" || (isLoss && role === "")) {
    yield [node, "target_not_moved", LIKELY, `\`${text}\` is passed as the target of the loss.`, other];
  } else if (ofLoss) {
    yield [node, "loss_weight_not_moved", CERTAIN, `\`${text}\` is passed as the weights of the loss.`, other];
  } else if (role === "hidden" || (operation.kind === "layer" && HIDDEN.test(text))) {
    yield [node, "hidden_state_not_moved", LIKELY, `\`${text}\` is passed as the hidden state.`, other];
  } else if (["name", "member", "on the CPU"].includes(kind) && role !== "tensors") {
    if (!["", ...INPUTS].includes(role)) return; // such as `other`: two tensors met that nobody calls a batch
    yield [node, "input_not_moved", role ? 2.5 : POSSIBLE, `\`${text}\` is passed from the CPU.`, other];
  }
}

/** What may be on the CPU in an operation that works element by element, where the message names nothing. */
function* mixed(catalog, operation, statement) {
  if (["layer", "index"].includes(operation.kind)) return;
  const nodes = operation.arguments.flatMap(([, node]) => [...leaves(node)]);
  const places = nodes.map((node) => placeOf(catalog, node, statement));
  const tensors = places.filter(({ kind }) => kind !== "number"), sign = operation.node.name;
  if (operation.kind === "operator" && sign.endsWith("=") && !ELEMENTWISE.has(sign)) {
    const { kind, node } = places[0];
    const because = `\`${textOf(statement, node)}\` is added to in place, and so stays where it was created.`;
    if (["name", "attribute"].includes(kind))
      yield [node, "metric_or_accumulator_state", LIKELY, because, tensors[1]?.node ?? null];
  }
  const elsewhere = tensors.filter(({ kind }) => !["created", "attribute", "on the CPU"].includes(kind));
  for (const { kind, node } of tensors) {
    const text = textOf(statement, node);
    const other = elsewhere.find((place) => place.node !== node)?.node ?? null;
    if (kind === "created")
      yield [node, "tensor_created_in_forward_without_device", CERTAIN, isCreated(text), other];
    else if (kind === "attribute" && elsewhere.length)
      yield [node, "unregistered_tensor_attribute", LIKELY, isAnAttribute(text), other];
  }
  for (const [role, target] of operation.arguments) {
    const { kind, node } = placeOf(catalog, target, statement);
    const because = `\`${textOf(statement, node)}\` is passed as the target of the loss.`;
    if (role === "target" && ["name", "member"].includes(kind))
      yield [node, "target_not_moved", 2, because, operation.arguments[0][1]];
  }
}

/** The tensor that is indexed: it is on the CPU, and its index on an accelerator. */
function* indexed(catalog, operation, statement, isAlone) {
  const base = operation.arguments[0][1], index = operation.arguments.at(-1)[1];
  let leaf = base;
  const keeps = ([called]) => called.kind === "attribute" && ["view", "copy"].includes(decidedBy(catalog, called));
  while (leaf.kind === "call" && keeps(leaf.parts)) leaf = leaf.parts[0].parts[0];
  const text = textOf(statement, leaf);
  if (leaf.kind === "attribute" && isSelf(leaf)) {
    yield [leaf, "unregistered_tensor_attribute", CERTAIN, isAnAttribute(text), index];
  } else if (leaf.kind === "call" && isFactory(catalog, leaf) && placeOf(catalog, leaf, statement).kind === "created") {
    // `torch.linspace(0, 1, 8)[1:]` fails further down.
    const isASlice = placeOf(catalog, index, statement).kind === "number";
    const cause = isASlice ? "tensor_created_in_forward_without_device" : "index_on_wrong_device";
    yield [leaf, cause, CERTAIN, isCreated(text), index];
  } else {
    const name = textOf(statement, base);
    const because = isAlone ? `\`${name}\` is on the CPU, and its index is not.` : `\`${name}\` may be on the CPU.`;
    yield [base, "index_on_wrong_device", LIKELY, because, index];
  }
}

/** Whether the traceback underlined this operation, or a part of it. */
function isMarked(node, { code, marked }) {
  if (!marked.length) return false;
  // Python counts characters, and JavaScript halves of those beyond 16 bits.
  const [start, end] = [node.start, node.end].map((at) => [...code.slice(0, at)].length);
  return marked[0] <= start && end <= marked[1];
}
