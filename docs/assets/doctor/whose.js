// Whose code failed, where it is not the reader's, what its user can do and what to report: what
// samedevice/doctor/text/whose.py is in Python.

import { load } from "./calls.js";
import { inLibrary, isModel, packageOf } from "./libraries.js";
import { CPU, pair } from "./refusing.js";
import { words } from "./tokens.js";

const SUBJECTS = words("common-device layers indexing gradients numpy data legacy");
const OF_AN_APPLICATION = [...SUBJECTS, ...words("compile libraries loading")];
export const OF_OPERATIONS = words("torchvision torchaudio torchmetrics"); // they refuse what the package above them gave
const SPREADING = words("transformers accelerate peft diffusers"); // they put parts of a model on several devices
const BEGINS = "Traceback (most recent call last)";
const TORCH = 'PyTorch: (what `python -c "import torch; print(torch.__version__)"` prints)';
const OF_SPREAD =
  'If the model was loaded with `device_map="auto"`, load it on one GPU as a whole, with `device_map={"": 0}`, ' +
  "if its memory is large enough.";
const UPDATE = "Update it: a newer release may have fixed it.";
const TRACKER = "in its issue tracker, to which its page on PyPI leads";
const IN_A_CONTEXT =
  'Call it below `with torch.device("cuda"):`, or with the device that you use: PyTorch 2.0 and later creates there ' +
  "what is created without a device.";
const BEFORE = /^.*(?:(?:site|dist)-packages\/|transformers_modules\/|\/(?=(?:custom_nodes|extensions)\/))/u;
// "pytorch version: 2.7.1+cu128", "torch==2.6.0", "ComfyUI version: 0.3.40"
const VERSION = String.raw`v?(?<version>[0-9]{1,4}\.[0-9]{1,4}[\w.+]{0,30})`;
const SIGNS = [" ?== ?", " ?: ?", " "]; // before a version, the surest first
const SYNTAX = /[\\^$.*+?()[\]{}|\/]/gu;

/** Who keeps the code that failed, or null where it is the reader's: by the most likely cause and the frames that are named. */
export function owner(reading, cause, named) {
  const { frames, trace, message: { subject } } = reading;
  if (!OF_AN_APPLICATION.includes(subject) || named.some(isOwn)) return null;
  const own = frames.filter((frame) => !inLibrary(frame)), callsIt = own.some(isOwn);
  const applied = own.map((frame) => [frame, ...(applicationOf(frame) ?? [])]).filter(([, application]) => application);
  const found = applied.findLast(([, { part }]) => part) ?? applied.at(-1);
  if (found && applied.at(-1)[0] === own.at(-1)) return ofApplication(found, reading, named.length === 1, callsIt);
  if (!own.length && !frames.some(packageOf)) {
    const told = load().applications.find(({ named: name }) => name && new RegExp(name, "u").test(trace));
    if (told) return ofApplication([null, told, ""], reading, false, false);
  }
  const isCalled = callsIt || !trace.includes(BEGINS), packages = frames.filter(packageOf);
  if (!SUBJECTS.includes(subject) || !packages.length || (isCalled && cause !== "library_bug")) return null;
  const inner = packages.findLast((frame) => !OF_OPERATIONS.includes(packageOf(frame)));
  return ofPackage(inner ?? packages.at(-1), reading, isCalled);
}

/** Whether a frame is the reader's own. */
export const isOwn = (frame) => !inLibrary(frame) && !applicationOf(frame);

/** The application that a frame's file belongs to, and the name of the part of it. */
function applicationOf(frame) {
  if (inLibrary(frame)) return null;
  for (const application of load().applications) {
    const found = new RegExp(application.path, "u").exec(`/${frame.file}`);
    if (found) return [application, application.part ? found.groups.part : ""];
  }
  return null;
}

/** The package, the application or the part of one that a frame's file belongs to, or "". */
export function nameOfOwner(frame) {
  const [application, part] = applicationOf(frame) ?? [];
  return packageOf(frame) || part?.replaceAll("`", "") || (application?.name ?? "");
}

function ofApplication([frame, { name, why, tries, report: where }, part], reading, isKnown, isCalled) {
  const quoted = part.replaceAll("`", ""), kind = load().applications.find((each) => each.name === name && each.part)?.part;
  const article = `${/^[aeiou]/u.test(kind) ? "an" : "a"} ${kind}`;
  const isA = part ? `\`${quoted}\`, ${article} of ${name}` : name;
  const orPart = kind && !part ? `, or from ${article} of it` : ""; // no traceback has to show that
  const says = isCalled ? whereItFailed(isA) : `This error comes from ${isA}${orPart}, not from code of yours.`;
  const report = reportOf(reading, frame, name), said = why && !isKnown ? `${says} ${why}` : says;
  return { name: quoted || name, says: said, tries: tries.length ? tries : ["Update it."], command: "", where, report };
}

const whereItFailed = (isA) =>
  `The line that failed is in ${isA}, not in code of yours. If all that you pass to it is on the model's device, ` +
  "nothing of yours is wrong.";

function ofPackage(frame, reading, isCalled) {
  const name = packageOf(frame), libraries = load().libraries, isOfAModel = isModel(frame);
  const known = Object.hasOwn(libraries, name) ? libraries[name] : null, report = reportOf(reading, frame, name);
  const isA = isOfAModel ? `the code that came with the model \`${name}\`` : `the package \`${name}\``;
  const says = isCalled ? whereItFailed(isA) : `This error comes from ${isA}, not from code of yours.`;
  const tries = isOfAModel || SPREADING.includes(name) ? [OF_SPREAD] : [];
  if (isCalled && pair(reading) === CPU) tries.push(IN_A_CONTEXT);
  if (isOfAModel) {
    const isPublished = name.split("/").length === 2;
    const where = isPublished ? `${load().hub}/${name}/discussions` : "on the page that the model comes from";
    return { name, says, tries, command: "", where, report };
  }
  // What pip calls another is not known: a guess may be another package.
  if (!known) return { name, says, tries: [UPDATE, ...tries], command: "", where: TRACKER, report };
  return { name, says, tries, command: known.pip && `pip install --upgrade ${known.pip}`, where: known.report, report };
}

/** What to report: the message, where it failed, and the versions that the paste tells. */
function reportOf({ quoted, place, trace }, frame, name) {
  const at = frame ?? place, lines = [quoted];
  if (at?.file) {
    lines.push(`${shortened(at.file)}${at.line ? `, line ${at.line}` : ""}:`);
    for (const line of at.code.split("\n")) if (line) lines.push(`    ${line}`);
  }
  const torch = versionOf("(?:[Pp]y)?[Tt]orch", trace), own = versionOf(name.replace(SYNTAX, "\\$&"), trace);
  if (own) lines.push(`${name}: ${own}`);
  return [...lines, torch ? `PyTorch: ${torch}` : TORCH].join("\n");
}

function versionOf(name, trace) {
  const form = (sign) => new RegExp(String.raw`(?:^|[^\w\-])${name}(?: version)?${sign}${VERSION}`, "u");
  return SIGNS.map((sign) => form(sign).exec(trace)?.groups.version).find(Boolean) ?? "";
}

/** Without what stands before the packages or the application: it tells of the reader, and not of the error. */
function shortened(path) {
  const before = BEFORE.exec(path)?.[0];
  return before === undefined ? path.split("/").slice(-3).join("/") : path.slice(before.length);
}
