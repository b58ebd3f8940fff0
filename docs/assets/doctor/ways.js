// What to run next where a text alone cannot say it for certain: what samedevice/doctor/text/ways.py is in Python.

import { isOwn } from "./whose.js";

const NO_SCRIPT = "SCRIPT.py";
const ALL = "All fixes as one diff";
const CELL = /^(?:Cell|Input) In ?\[|^<ipython-input-|\.ipynb Cell [0-9]|\/ipykernel_[0-9]/u;
const TEST = /(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/u;
const OF_TESTS = /\n(?:FAILED|ERROR) [^ \n]{1,300}::|\n=+ (?:short test summary info|FAILURES) =/u;
// Nothing that a shell takes for more than a letter, and no sign that is not seen: the path comes from a paste.
const TYPED = /^(?!-)[^\x00-\x20\x7f-\xa0\u2000-\u206f\u3000\ufeff"'`$;&|<>(){}[\]*?!#\\%^=,]{1,150}\.py$/u;
const CALLED = /(?:^|\.)(?:forward|__\w+__)$/u; // by something else: no program begins there
const INDEX = /(?:^|:)([0-9]|1[0-5])$/u; // of a GPU, as far as so many are simulated
const NOT_SIMULATED = /(?:\b|_|Sparse)(?:mps|xpu|npu|hpu|mtia|xla)/iu; // no `input`

/** What names the tensor for certain, or nothing where no frame of the program would: by the most likely cause. */
export function ways(catalog, { message, reads, frames, trace }, cause) {
  if (ofTheMachine(catalog).has(catalog.causes[cause].within || cause) || message.subject === "libraries") return [];
  const own = frames.filter(isOwn);
  if (own.some(({ file }) => CELL.test(file)))
    return [way("In the next cell of the notebook", "from samedevice import explain; explain()")];
  const devices = [reads.device ?? "", reads.others ?? ""];
  // Another accelerator is named by a message that knows no other, by the cause that has its name, or in the text.
  const isSimulated = ![message.title, cause, ...Object.values(reads)].some((name) => NOT_SIMULATED.test(name));
  const gpus = Math.max(...devices.map((device) => 1 + Number(device.match(INDEX)?.[1] ?? 0)));
  const sources = own.filter(({ file }) => file.endsWith(".py"));
  if (sources.length ? TEST.test(sources[0].file) : OF_TESTS.test(trace))
    return isSimulated ? [way("Without a GPU", `pytest --simulate-cuda ${gpus}`), way(ALL, "samedevice fix --pytest")] : [];
  const name = script(sources), option = gpus > 1 ? `--gpus ${gpus} ` : "";
  const real = way("On the machine with the GPU", `samedevice run --gpus real ${name}`);
  const simulated = [way("Without a GPU", `samedevice run ${option}${name}`), way(ALL, `samedevice fix ${option}${name}`)];
  return isSimulated ? [real, ...simulated] : [real];
}

const way = (when, command) => ({ when, command });

/** The causes that commands fix, and those that they are a case of. */
function ofTheMachine(catalog) {
  const fixed = Object.entries(catalog.causes).filter(([, { change }]) => /^[$#]/u.test(change[0]));
  return new Set(fixed.map(([id, { within }]) => within || id));
}

/** The path of the script that was started, as far as the frames show it, in signs that a shell leaves alone. */
function script([outermost]) {
  if (!outermost || CALLED.test(outermost.function)) return NO_SCRIPT;
  const path = outermost.file;
  return [path, path.slice(path.lastIndexOf("/") + 1)].find((name) => TYPED.test(name)) ?? NO_SCRIPT;
}
