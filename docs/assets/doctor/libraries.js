// Whose a file is, by its path: what samedevice/introspect/libraries.py and the paths of text/traceback.py are in Python.

import { load } from "./calls.js";

const PACKAGES = /(?:^|\/)(?:site|dist)-packages\/(?:(?<name>[A-Za-z_]\w*))?/gu;
// Code that came with a model's weights (`trust_remote_code`): huggingface/modules/transformers_modules/ORG/MODEL/HASH/
const OF_A_MODEL =
  /(?:^|\/)transformers_modules\/(?<name>(?:[\w.\-]{1,100}\/){1,2}?)(?:[0-9a-f]{8,40}\/|[\w.\-]{1,100}\.py$)/u;
const OF_PYTHON = new RegExp(
  String.raw`/lib(?:64)?/python[0-9](?:\.[0-9]{1,2})?/` +
    String.raw`|/(?:[Pp]ython[0-9.\-]{0,6}|\w{0,12}conda[0-9]?|mini(?:forge|mamba)[0-9]?)/(?:envs/[^/]{1,80}/)?[Ll]ib/` +
    String.raw`|^<(?:frozen|__array)`,
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
const CHECKOUTS = ["pytorch_image_models", "pytorch_geometric"]; // named otherwise than the package

const isInstalled = (path) => path.search(PACKAGES) >= 0 || [OF_PYTHON, OF_A_MODEL, OF_A_COMMAND].some((known) => known.test(path));

/** Whether a frame's file belongs to Python or to an installed package. */
export const inLibrary = ({ file }) =>
  isInstalled(file) || file.startsWith("<string") || TORCH.test(file) || known(file) !== "";

/** The installed package, or the model, that a frame's file belongs to, other than PyTorch; "" for any other file. */
export function packageOf({ file }) {
  const found = [...file.matchAll(PACKAGES)].at(-1)?.groups;
  const model = found ? "" : (OF_A_MODEL.exec(file)?.groups.name ?? "");
  const name = found?.name ?? model.replace(/\/$/u, "").replaceAll("_hyphen_", "-").replaceAll("_dot_", ".");
  return (["torch", "functorch"].includes(name) ? "" : name) || known(file);
}

/** Whether a frame's file is code that came with a model's weights. */
export const isModel = ({ file }) => OF_A_MODEL.test(file) && file.search(PACKAGES) < 0;

/** The library that a path belongs to by its name alone; "" in a checkout, whose files are the reader's. */
function known(path) {
  const names = Object.entries(load().libraries).filter(([, { known }]) => known).map(([name]) => name).join("|");
  const form = String.raw`(?:(?<above>[^/]{1,100})/|^/?)(?<known>${names})/(?<below>\w{1,100})[\w/]{0,200}\.py$`;
  const found = new RegExp(form, "u").exec(path)?.groups;
  if (!found || [found.known, ...OF_A_CHECKOUT].includes(found.below)) return "";
  const above = (found.above ?? "").toLowerCase().replace(/\W/gu, "_"), name = found.known;
  const isAlike = above.length > 3 && (name.includes(above) || above.includes(name));
  return isAlike || ["src", ...CHECKOUTS].includes(above) ? "" : name;
}
