// Changes of a line that a message's own cause tells, where no tensor met another, such as a copy for NumPy: what
// samedevice/doctor/text/by_cause.py is in Python.

import { called } from "./calls.js";
import { withoutComma } from "./changes.js";
import { parts } from "./deciding.js";
import { isWhole, readLine, textOf, walk } from "./lines.js";
import { isAModel } from "./operations.js";
import { words } from "./tokens.js";
import { namedDevice } from "./wanted.js";

const OF_ARRAYS = words("np numpy plt ax sns");
const OF_A_LIST = words("concatenate stack vstack hstack"); // functions of NumPy that take a list of arrays
const OF_ANYTHING = words("array asarray mean median sum std min max"); // that take an array or a list
const SEVERAL = /(?:[a-rt-z]s|list|_all)$|^all_|^list_/u; // the name of a list: `losses`, `preds_all`

/** The changes for a cause on the line of a frame: alternatives; none where the line does not show it. */
export function changesOfCause(cause, frame, reading) {
  const line = cause in BY_LINE ? readLine(frame.code) : null;
  return line ? [...BY_LINE[cause](line, frame, reading)] : [];
}

const callsOf = (line) => [...walk(...line.body)].filter((node) => node.type === "Call" && isWhole(line, node));

function changed(line, frame, { start, end }, text, expression = line.characters.slice(start, end).join("")) {
  const [before, after] = [line.characters.slice(0, start), line.characters.slice(end)];
  return { frame, expression, action: "replace", text: [...before, text, ...after].join(""), because: "", instead: "" };
}

function* givenToNumpy({ func, args }, line, frame) {
  if (func.type !== "Attribute" || !OF_ARRAYS.includes(textOf(line, func.value))) return;
  for (const given of args) {
    const isOne = ["Name", "Attribute", "Subscript", "Call"].includes(given.type);
    const mayBe = ({ kind }) => ["name", "item", "attribute", "result"].includes(kind);
    if (!isOne || !parts(given, line).some(mayBe)) continue;
    const text = textOf(line, given), isAName = given.type === "Name", isOfAnything = OF_ANYTHING.includes(func.attr);
    const isAList = OF_A_LIST.includes(func.attr) || (isOfAnything && SEVERAL.test(text));
    let copied = `${text}.cpu()`;
    if (isAList && isAName) copied = `[item.cpu() for item in ${text}]`;
    // It may be a list, of tensors or of numbers.
    else if (isOfAnything && !isAName) copied = `torch.as_tensor(${text}).cpu()`;
    yield changed(line, frame, given, copied);
  }
}

const BY_LINE = {
  *checkpoint_map_location(line, frame) {
    for (const node of callsOf(line)) {
      const hasOne = node.keywords.some(({ arg }) => arg === "map_location") || node.args.length > 1;
      if (textOf(line, node.func) === "torch.load" && !hasOne)
        yield changed(line, frame, node, `${withoutComma(textOf(line, node))}, map_location="cpu")`);
    }
  },

  // What `.numpy()` is called on, else what a function is given, is copied to the CPU.
  *numpy_conversion(line, frame, { below }) {
    const direct = callsOf(line).filter(({ func }) => func.type === "Attribute" && func.attr === "numpy");
    const isImplicit = below.includes("__array__") || below.includes("asarray");
    if (direct.length && !isImplicit) {
      for (const { func: { value: tensor } } of direct)
        if (!parts(tensor, line).some(({ kind }) => kind === "on the CPU"))
          yield changed(line, frame, tensor, `${textOf(line, tensor)}.cpu()`);
    } else for (const node of callsOf(line)) yield* givenToNumpy(node, line, frame);
  },

  *pin_memory_on_cuda_tensor(line, frame) {
    for (const { arg, value } of callsOf(line).flatMap(({ keywords }) => keywords))
      if (arg === "pin_memory" && value.kind === "True") yield changed(line, frame, value, "False", "pin_memory=True");
  },

  *cpu_only_argument(line, frame) {
    for (const node of callsOf(line)) {
      const [, lengths] = node.args;
      if (called(node) === "pack_padded_sequence" && ["Name", "Attribute", "Subscript"].includes(lengths?.type))
        yield changed(line, frame, lengths, `${textOf(line, lengths)}.cpu()`);
    }
  },

  // The items of a container: `{key: value.to(device) for key, value in batch.items()}`, `batch.to(device)`.
  *container_not_moved(line, frame) {
    const targets = [...walk(...line.body)].filter(({ type }) => type === "comprehension").map(({ target }) => target);
    for (const node of callsOf(line)) {
      const { func } = node, name = func.value?.id, text = textOf(line, node);
      if (func.type !== "Attribute" || name === undefined || !["to", "cuda"].includes(func.attr)) continue;
      if ([...walk(...targets)].some(({ id }) => id === name)) {
        yield changed(line, frame, node, `${text} if torch.is_tensor(${name}) else ${name}`, name);
        return;
      }
      if (line.body[0].value !== node) continue;
      const items = `[item${text.slice(name.length)} if torch.is_tensor(item) else item for item in ${name}]`;
      yield changed(line, frame, node, items, textOf(line, func.value));
      return;
    }
  },

  // The model that a function is given: `get_feature(model, samples)`.
  *model_not_moved(line, frame, reading) {
    const model = callsOf(line).flatMap(({ args }) => args).find(isAModel);
    if (!model || (frame.file && frame !== reading.place)) return;
    const expression = textOf(line, model), text = `${expression}.to(${namedDevice(frame, reading)})`;
    yield { frame, expression, action: "before", text, because: "", instead: "" };
  },
};
