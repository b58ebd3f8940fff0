// What else of a paste may be in the wrong place, where no operation of the failing line is known to refuse it: what
// samedevice/doctor/text/elsewhere.py is in Python.

import { INPUTS } from "./accused.js";
import { called, decidedBy } from "./calls.js";
import { candidate, CERTAIN, LIKELY, told, within, withoutDoubles } from "./candidates.js";
import { isFactory, isOnCpu, parts } from "./deciding.js";
import { readLine, textOf, walk } from "./lines.js";
import { operations } from "./operations.js";
import { CPU, GPUS, LAYER_OPS, pair } from "./refusing.js";
import { inLibrary } from "./libraries.js";

const MODULE = /model|net|module|criterion|loss|encoder|decoder|classifier|metric|pipe/iu;
const WITHOUT_A_DEVICE = "tensor_created_in_forward_without_device";

/** What the reader's line passes to a model of a library, where a layer in it got its input on the CPU. */
export function passedToALibrary(reading) {
  const { reads: { argument, device_kind, op = "" }, place: frame, below } = reading;
  const isTheInput = INPUTS.includes(argument) && device_kind === "cpu" && pair(reading) === CPU;
  const isOfLayers = below.includes("torch/nn/modules/") && LAYER_OPS.test(op);
  const line = frame && !inLibrary(frame) ? readLine(frame.code) : null;
  if (!line || !isTheInput || !isOfLayers) return [];
  const layers = [...operations(line)].filter(({ kind }) => kind === "layer");
  const found = layers.flatMap((operation) => {
    const passed = operation.arguments.slice(1).flatMap(([, node]) => parts(node, line));
    return passed
      .filter(({ kind }) => ["name", "item"].includes(kind))
      .map((part) => ({ ...told(part, "input", operation, line, reading), frame, operation, role: "input" }));
  });
  return withoutDoubles(found);
}

/** What a line creates without a device, where no operation of it is known that could refuse it. */
export function created(reading, frame) {
  const line = readLine(frame.code), mayBe = reading.message.causes.some(({ id }) => id === WITHOUT_A_DEVICE);
  if (!line || !mayBe || pair(reading) === GPUS) return [];
  const isKept = ({ type, targets }) => type === "Assign" && targets.some((target) => target.type === "Attribute");
  if (line.body.some(isKept)) return []; // `self.steps = torch.linspace(0, 1, 8)`
  const found = [];
  for (const node of walk(...line.body))
    for (const part of node.type === "Call" && isFactory(node) ? parts(node, line) : [])
      if (part.node === node && part.kind === "created" && isOnCpu(part) && !isMoved(node, line)) {
        const where = frame.file ? "in this line" : "in the code shown";
        const because = `\`${textOf(line, node)}\` is created ${where} without a device.`;
        found.push({ ...candidate(line, node, "created", WITHOUT_A_DEVICE, LIKELY, because), frame });
      }
  return found;
}

/** Whether the line moves what a call creates: `torch.zeros(3).to(device)`. */
function isMoved(inner, line) {
  const isAround = (node) => node.type === "Call" && node !== inner && within(inner, node);
  const around = [...walk(...line.body)].filter(isAround);
  return around.some((node) => parts(node, line).some(({ kind }) => kind === "moved"));
}

/** The tensors of lines that are `x.to(device)` and nothing else: what these return is thrown away. */
export function discardedMoves({ frames }) {
  return frames.flatMap((frame) => {
    const line = frame.code && !inLibrary(frame) ? readLine(frame.code) : null;
    const [{ type, value: call }, ...others] = line?.body ?? [{}], moved = call?.func?.value;
    if (type !== "Expr" || others.length || call.type !== "Call" || moved?.type !== "Name") return [];
    if (decidedBy(called(call)) !== "move" || MODULE.test(moved.id)) return [];
    const because = `\`${moved.id}.${called(call)}(...)\` returns the moved tensor, and the line throws it away.`;
    return { ...candidate(line, moved, "name", "in_place_or_copy", CERTAIN, because), frame };
  });
}
