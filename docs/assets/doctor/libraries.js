// Whose a file is, by its path: what samedevice/introspect/libraries.py and the paths of text/traceback.py are in Python.

import { load } from "./calls.js";

const PACKAGES = /(?:^|\/)(?:site|dist)-packages\/(?:(?<name>[A-Za-z_]\w*))?/gu;
// Code that came with a model's weights (`trust_remote_code`): huggingface/modules/transformers_modules/ORG/MODEL/HASH/
const OF_A_MODEL =
  /(?:^|\/)transformers_modules\/(?<name>(?:[\w.\-]{1,100}\/){1,2}?)(?:[0-9a-f]{8,40}\/|[\w.\-]{1,100}\.py$)/u;
const GENERATED = /^<(?:frozen|__array)/u; // Python's import system, NumPy's dispatcher
const OF_PYTHON = new RegExp(
  String.raw`/lib(?:64)?/python[0-9](?:\.[0-9]{1,2})?/|^<string` +
    String.raw`|/(?:[Pp]ython[0-9][0-9.\-]{0,5}|\w{0,12}conda[0-9]?|mini(?:forge|mamba)[0-9]?)/(?:envs/[^/]{1,80}/)?[Ll]ib/`,
  "u",
);
// What pip writes to start a package: bin/whisper, Scripts/whisper.exe/__main__.py
const OF_A_COMMAND = /(?:^|\/)(?:bin|Scripts)\/[\w\-]{1,80}(?:\.exe(?:\/__main__\.py)?|-script\.py)?$/u;
// A path that was cut, or lies where no packages are installed, tells PyTorch and some libraries by their folders.
const TORCH = new RegExp(
  String.raw`(?:^|/)torch/(?:(?:nn|utils|optim|autograd|cuda|distributed|_[a-z]\w{0,40})(?:/|\.py)` +
    String.raw`|(?:functional|serialization|storage|_?tensor)\.py$)`,
  "u",
);
const OF_A_CHECKOUT = ["examples", "tests", "scripts", "benchmarks", "docs", "src"]; // the folder above them is one

/** Whether a frame's file belongs to Python or to an installed package. */
export const inLibrary = ({ file, code }) => (code.includes("sys.exit(") && OF_A_COMMAND.test(file)) || isLibrary(file);

const isLibrary = (path) =>
  path.search(PACKAGES) >= 0 || [OF_A_MODEL, GENERATED, OF_PYTHON, TORCH].some((each) => each.test(path)) || known(path) !== "";

/** The installed package, or the model, that a frame's file belongs to, other than PyTorch; "" for any other file. */
export function packageOf({ file }) {
  const found = [...file.matchAll(PACKAGES)].at(-1)?.groups;
  const model = found ? "" : (OF_A_MODEL.exec(file)?.groups.name ?? "");
  const name = found?.name ?? model.replace(/\/$/u, "").replaceAll("_hyphen_", "-").replaceAll("_dot_", ".");
  return (["torch", "functorch"].includes(name) ? "" : name) || known(file);
}

/** Whether a frame's file is code that came with a model's weights. */
export const isModel = ({ file }) => OF_A_MODEL.test(file) && file.search(PACKAGES) < 0;

/** The library that a cut path belongs to by its name alone; "" in a checkout, whose files are the reader's. */
function known(path) {
  const { libraries } = load();
  if (!forms.has(libraries)) {
    const names = Object.keys(libraries).filter((name) => libraries[name].known).join("|");
    const form = String.raw`^(?:\.{2,3}/)?(?<known>${names})/(?<below>\w{1,100})[\w/]{0,200}\.py$`;
    forms.set(libraries, new RegExp(form, "u"));
  }
  const found = forms.get(libraries).exec(path)?.groups;
  return !found || [found.known, ...OF_A_CHECKOUT].includes(found.below) ? "" : found.known;
}
const forms = new WeakMap();
