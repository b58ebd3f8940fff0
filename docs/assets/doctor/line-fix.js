// The line to change, written on the reader's own line: the code that a traceback shows, with a device in it. What
// samedevice/doctor/text/line_fix.py is in Python.

import { readStatement, textOf, walk } from "./expressions.js";
import { callsAModule, suspects } from "./failing-line.js";
import { CLASS, isFactory, isLayer, moduleOf, nodesOf, placeOf } from "./line-operations.js";
import { inLibrary, packageOf } from "./traceback.js";

const NAMED_DEVICE = /\b(?:to\(|device ?= ?)((?:self\.|args\.|cfg\.|config\.)?device)\b/u;
const LAYER_WITH_A_WEIGHT = /torch\/nn\/modules\/(?:sparse|linear|conv|batchnorm|normalization)\.py/u;
const LEARNED = /weight|bias|param|embed/u; // the name of what a module learns, which is no buffer
const LIBRARIES = ["torch", "np", "numpy", "self", "F", "nn", "args", "cfg", "config"]; // `np.float32` has no device
const ACCELERATOR = /^(?:cuda|xpu|mps|npu|hpu)(?::[0-9]{1,3})?$/u;
const OF_A_LIST = ["concatenate", "stack", "vstack", "hstack"]; // functions of NumPy that take a list of arrays
const MODEL = /^(?:\w{1,40}_)?(?:model|net|network)$/u;
const OF_ANYTHING = ["array", "asarray", "mean", "median", "sum", "std", "min", "max"]; // that take an array or a list
const SEVERAL = /(?:[a-rt-z]s|list|_all)$|^all_|^list_/u; // the name of a list: `losses`, `preds_all`
const MOVED_ABOVE = [
  "input_not_moved",
  "target_not_moved",
  "hidden_state_not_moved",
  "loss_weight_not_moved",
  "metric_or_accumulator_state",
];
const NAMED = ["name", "attribute", "subscript"];

/** The change for a cause on the line that shows it; null where no line does. */
export function lineFix(catalog, cause, reading) {
  // What a library's line was given is not to be moved there.
  const isOurs = (suspect) => cause === "library_bug" || !packageOf(suspect.frame);
  const found = suspects(catalog, reading).filter((suspect) => suspect.cause === cause && isOurs(suspect));
  if (found.length) {
    const first = found.reduce((one, another) => (another.points > one.points ? another : one));
    return ofSuspect(first, found.filter(({ statement }) => statement.text === first.statement.text), reading, catalog);
  }
  if (!Object.hasOwn(BY_LINE, cause)) return null;
  for (const frame of ownFrames(reading).reverse()) {
    const fix = BY_LINE[cause](readStatement(frame.code), frame);
    if (fix) return fix;
  }
  return null;
}

const ownFrames = ({ frames }) => frames.filter((frame) => frame.code && !inLibrary(frame));
const lineOf = (frame, expression, action, text, because = "", instead = "") => {
  return { frame, expression, action, text, because, instead };
};

function ofSuspect(suspect, allOfTheLine, reading, catalog) {
  const { frame, statement, node, other, because, cause, expression: name } = suspect;
  const device = deviceOf(suspect, reading, catalog), isOfALibrary = cause === "library_bug";
  if (cause === "tensor_created_in_forward_without_device")
    return replaced(suspect, allOfTheLine.map((each) => [each.node, createdOn(each.expression, device, catalog)]));
  if ((cause === "unregistered_tensor_attribute" || isOfALibrary) && node.kind === "attribute") {
    const changes = allOfTheLine.map((each) => [each.node, `${each.expression}.to(${device})`]);
    const own = allOfTheLine.filter((each) => each.expression === `self.${each.node.name}`);
    const buffers = own.filter((each) => !LEARNED.test(each.node.name));
    const instead = [...new Set(buffers.map((each) => `self.register_buffer("${each.node.name}", ...)`))];
    return replaced(suspect, changes, isOfALibrary ? "" : instead.join("\n"));
  }
  if (cause === "submodule_created_in_forward" && node.kind === "call") {
    const [made] = node.parts;
    if (!["attribute", "name"].includes(made.kind)) return null;
    const layer = `self.${made.name.toLowerCase()}`;
    return replaced(suspect, [[node, layer]], `${layer} = ${name}`);
  }
  if (cause === "in_place_or_copy") return lineOf(frame, name, "replace", `${name} = ${statement.text}`, because);
  if (cause === "index_on_wrong_device" && node.kind === "call" && isFactory(catalog, node))
    return replaced(suspect, [[node, createdOn(name, device, catalog)]]);
  if (cause === "index_on_wrong_device" && other && placeOf(catalog, other, statement).kind === "name")
    return replaced(suspect, [[node, `${name}.to(${textOf(statement, other)}.device)`]]);
  if (cause === "model_not_moved") return movedModel(suspect, reading);
  const isTheLoss = cause === "loss_weight_not_moved" && callsOf(statement).some((call) => call.parts[0] === node);
  if (isTheLoss) return lineOf(frame, name, "before", `${name}.to(${device})`, because);
  return MOVED_ABOVE.includes(cause) ? movedAbove(suspect, device, reading) : null;
}

function replaced({ frame, statement, expression, because }, changes, instead = "") {
  const pieces = new Map(changes.map(([node, piece]) => [`${node.start} ${node.end}`, [node, piece]]));
  const fromTheEnd = ([one], [another]) => another.start - one.start || another.end - one.end;
  let { text } = statement;
  for (const [{ start, end }, piece] of [...pieces.values()].sort(fromTheEnd)) text = text.slice(0, start) + piece + text.slice(end);
  return lineOf(frame, expression, "replace", text, because, instead);
}

/** A factory's call with `device=`; what takes none is moved. */
function createdOn(call, device, { devices: { functions } }) {
  const name = call.split("(")[0].split(".").at(-1);
  if ((Object.hasOwn(functions, name) && functions[name] === "cpu") || !call.endsWith(")")) return `${call}.to(${device})`;
  const inner = withoutComma(call);
  return inner.endsWith("(") ? `${inner}device=${device})` : `${inner}, device=${device})`;
}

const withoutComma = (call) => call.slice(0, -1).trimEnd().replace(/,+$/u, "");

/** The device where it is wanted: that of what it met, else the program's own name for its device. */
function deviceOf({ statement, node, other }, reading, catalog) {
  if (other) {
    const place = placeOf(catalog, other, statement), text = textOf(statement, place.node);
    if (["name", "attribute", "member"].includes(place.kind) && place.node !== node) {
      const isALayer = callsOf(statement).some((call) => moduleOf(call.parts[0]) === other);
      if (!isALayer) return `${text}.device`;
      if (reading.below && !reading.below.includes("torch/nn/modules/")) return namedDevice(reading); // a function
      return LAYER_WITH_A_WEIGHT.test(reading.below) ? `${text}.weight.device` : `next(${text}.parameters()).device`;
    }
  }
  return deviceOfALike(node) || namedDevice(reading);
}

/** The device of the tensor whose size or type a factory's call asks for; "" where it asks for none. */
function deviceOfALike(call) {
  for (const node of call.kind === "call" ? walk(call) : []) {
    const asked = node.kind === "call" && node.parts[0].name === "size" ? node.parts[0] : node;
    if (asked.kind !== "attribute" || asked.parts[0].kind !== "name") continue;
    const tensor = asked.parts[0].name, isAsked = ["shape", "dtype"].includes(asked.name) || asked !== node;
    if (isAsked && !LIBRARIES.includes(tensor) && !CLASS.test(tensor)) return `${tensor}.device`;
  }
  return "";
}

/** The program's own name for its device; else the device itself, as the message has it. */
function namedDevice({ ownTrace, reads }) {
  const named = NAMED_DEVICE.exec(ownTrace)?.[1];
  if (named) return named;
  const device = [reads.device, reads.others].find((each) => ACCELERATOR.test(each ?? ""));
  return `"${device ?? "cuda"}"`;
}

/** Move a tensor above the line that passes it: in the frame where the user has it, rather than in `forward`. */
function movedAbove(suspect, device, reading) {
  const { node, frame, because, expression: name } = suspect;
  if (!NAMED.includes(node.kind)) return replaced(suspect, [[node, `${name}.to(${device})`]]);
  if (node.kind === "name") {
    const [outer, passed] = passedFrom(frame, name, reading);
    const moved = `${passed} = ${passed}.to(${namedDevice(reading)})`;
    if (outer !== frame) return lineOf(outer, passed, "before", moved, because);
  }
  return lineOf(frame, name, "before", `${name} = ${name}.to(${device})`, because);
}

/** Follow the one argument of `forward` outwards, to the line where the program has it. */
function passedFrom(frame, name, reading) {
  const own = ownFrames(reading);
  const same = (one) => ["file", "line", "function", "code"].every((key) => one[key] === frame[key]);
  const outer = own.slice(0, Math.max(0, own.findIndex(same)));
  while (outer.length && ["forward", "__call__"].includes(frame.function.split(".").at(-1))) {
    const calls = [...walk(readStatement(outer.at(-1).code).value)].filter(
      (node) => node.kind === "call" && isLayer(node.parts[0]),
    );
    const given = calls.length ? calls[0].parts.slice(1).filter((_, number) => !calls[0].keywords[number]) : [];
    if (given.length !== 1 || given[0].kind !== "name") break;
    [frame, name] = [outer.pop(), given[0].name];
  }
  return [frame, name];
}

/** Move the model that the outermost frame calls, if it names one. */
function movedModel(suspect, reading) {
  const own = ownFrames(reading);
  for (const frame of own.length ? own : [suspect.frame]) {
    const statement = readStatement(frame.code);
    for (const node of callsAModule(frame, reading) ? walk(statement.value) : []) {
      if (node.kind !== "call") continue;
      let [called, given] = node.parts;
      called = moduleOf(called);
      if (!["name", "attribute"].includes(called.kind) || !isLayer(called)) continue;
      const name = textOf(statement, called), device = given?.kind === "name" ? `${given.name}.device` : namedDevice(reading);
      return lineOf(frame, name, "before", `${name}.to(${device})`, suspect.because);
    }
  }
  const name = suspect.expression;
  return lineOf(suspect.frame, name, "before", `${name}.to(${namedDevice(reading)})`, suspect.because);
}

// ---- Changes that the cause and the line tell, without a suspect.

const callsOf = (statement) => [...nodesOf(statement)].filter(({ kind }) => kind === "call");

/** The line with `text` in the place of a node. */
function changed(frame, statement, node, text, expression = textOf(statement, node)) {
  const line = statement.text;
  return lineOf(frame, expression, "replace", line.slice(0, node.start) + text + line.slice(node.end));
}

const BY_LINE = {
  checkpoint_map_location(statement, frame) {
    for (const node of callsOf(statement)) {
      const text = textOf(statement, node), isLoad = textOf(statement, node.parts[0]) === "torch.load";
      if (isLoad && !node.keywords.includes("map_location") && text.endsWith(")"))
        return changed(frame, statement, node, `${withoutComma(text)}, map_location="cpu")`);
    }
    return null;
  },

  numpy_conversion(statement, frame) {
    for (const { parts: [called, ...given] } of callsOf(statement)) {
      if (called.kind !== "attribute") continue;
      let tensor;
      if (["numpy", "__array__"].includes(called.name)) tensor = called.parts[0];
      else if (["np", "numpy", "plt", "ax", "sns"].includes(called.parts[0].name))
        tensor = given.find((part) => NAMED.includes(part.kind));
      if (tensor && [...NAMED, "call"].includes(tensor.kind)) {
        const text = textOf(statement, tensor), isOfAnything = OF_ANYTHING.includes(called.name);
        if (isOfAnything && ["attribute", "subscript"].includes(tensor.kind)) continue; // it may be a list of tensors
        const isSeveral = OF_A_LIST.includes(called.name) || (isOfAnything && SEVERAL.test(tensor.name));
        const isAList = tensor.kind === "name" && isSeveral;
        return changed(frame, statement, tensor, isAList ? `[item.cpu() for item in ${text}]` : `${text}.cpu()`);
      }
    }
    return null;
  },

  pin_memory_on_cuda_tensor(statement, frame) {
    for (const { keywords, parts: [, ...given] } of callsOf(statement))
      for (const [number, part] of given.entries())
        if (keywords[number] === "pin_memory" && part.name === "True")
          return changed(frame, statement, part, "False", "pin_memory=True");
    return null;
  },

  cpu_only_argument(statement, frame) {
    for (const { parts: [called, , lengths] } of callsOf(statement))
      if (called.name === "pack_padded_sequence" && lengths && ["name", "attribute"].includes(lengths.kind))
        return changed(frame, statement, lengths, `${textOf(statement, lengths)}.cpu()`);
    return null;
  },

  // The model that a function is given: `get_feature(model, samples)`.
  model_not_moved(statement, frame) {
    for (const { parts: [, ...given] } of callsOf(statement))
      for (const { kind, name } of given)
        if (kind === "name" && MODEL.test(name)) {
          const device = NAMED_DEVICE.exec(statement.text)?.[1] ?? '"cuda"';
          return lineOf(frame, name, "before", `${name}.to(${device})`);
        }
    return null;
  },

  container_not_moved(statement, frame) {
    for (const node of callsOf(statement)) {
      const [called] = node.parts;
      if (called.kind !== "attribute" || !["to", "cuda"].includes(called.name)) continue;
      const { kind, name, end } = called.parts[0];
      if (kind !== "name") continue;
      if (statement.value.name === "for") {
        const text = `${textOf(statement, node)} if torch.is_tensor(${name}) else ${name}`;
        return changed(frame, statement, node, text, name);
      }
      if (statement.value !== node) continue;
      const move = statement.text.slice(end, node.end);
      return changed(frame, statement, node, `[item${move} if torch.is_tensor(item) else item for item in ${name}]`, name);
    }
    return null;
  },
};
