// The doctor in the browser: what samedevice/doctor/text is in Python, by the same steps and names, on the same catalog
// (assets/catalog.json). The larger steps are in the folder beside this file. A test compares the two: a change here is
// a change there.

import { answer, widest } from "./doctor/answer.js";
import { use } from "./doctor/calls.js";
import { clean, first, lines, squeezed, WINDOW } from "./doctor/normalise.js";
import { tell } from "./doctor/tell.js";
import { inLibrary, packageOf, readTraceback } from "./doctor/traceback.js";
import { ways } from "./doctor/ways.js";

/** What PyTorch is saying in `text`, and why, by the parsed catalog.json. Any text will do. */
export function explain(catalog, text) {
  use(catalog);
  const found = read(compiled(catalog), text.slice(-WINDOW));
  const [nobody, nowhere] = [{ culprits: [], tell: "", ways: [] }, { place: null, other: null, ask: "" }];
  const nothing = { message: null, reads: {}, causes: [], ...nobody, ...nowhere };
  if (!found) return { ...nothing, says: NOT_BLANK.test(text) ? UNKNOWN : EMPTY, ask: WHOLE };
  if (found.says) return { ...nothing, says: `This is not a device error. ${found.says}`, other: found };
  const { message, reads, place } = found;
  const says = saysOf(found);
  const ask = message.ask || (found.frames.length || LOOKS_LIKE_A_TRACEBACK.test(text) ? "" : TRACEBACK);
  const [causes, named] = answer(found, (reading, candidates) => rank(catalog, reading, candidates));
  const culprits = named.map((each) => readCulprit(each, found));
  const told = { culprits, tell: tellOf(culprits, named), ways: causes.length ? ways(catalog, found, causes[0].id) : [] };
  return { message, reads, says, causes, ...told, place, other: null, ask };
}

function tellOf(culprits, named) {
  const those = (isOne) => named.filter(isOne).map(({ change }) => change.expression);
  const isAModule = ({ kind }) => kind === "module", mayBeANumber = (each) => each.mayBeANumber;
  return named.every((each) => each.canBeAsked) ? tell(culprits, those(isAModule), those(mayBeANumber)) : "";
}

/** A culprit of what was read from the failing line. */
function readCulprit({ cause: id, change }, { reads }) {
  const cause = widest(id), device = reads.between === "cpu and accelerator" ? "cpu" : "";
  const { expression, text: fix, because: sentence, instead, frame } = change, edits = editsOf(change);
  const what = { expression, device, cause, case: cause === id ? "" : id, sentence };
  return { ...what, fix: fix || `${expression}.to(...)`, edits, instead, owner: edits.length ? packageOf(frame) : "" };
}

/** A change as edits, one of each line; none where the line was shortened and its rest is not known. */
function editsOf({ frame: { file, line, function: name, code }, action, text }) {
  const edit = (at, text, old = "") => ({ file, line: line && line + at, action, text, function: name, old });
  if (action === "before") return [edit(0, text)];
  const [old, lines] = [code.split("\n"), text.split("\n")];
  if (!text || /(?:\.\.\.|\u2026)$/u.test(old.at(-1).trimEnd()) || old.length !== lines.length) return [];
  return lines.flatMap((after, at) => (old[at] === after ? [] : [edit(at, after.trim(), old[at].trim())]));
}

// What Python takes for a blank: \s has another set.
const NOT_BLANK = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u;
const EMPTY = "There is no text to explain.";
const UNKNOWN = "This text holds no PyTorch device error that we know.";
const WHOLE = "Paste the whole error, from `Traceback (most recent call last)` to its last line.";
const LOOKS_LIKE_A_TRACEBACK = /Traceback \(most|-->|, line [0-9]|\.py:[0-9]/u;
const TRACEBACK =
  "For a surer answer paste the whole traceback, from `Traceback (most recent call last)` to its last line: " +
  "its frames often tell which cause it is.";

// ---- match.py, read.py

const LINES_BEFORE = 1_200, LINES_AFTER = 60, LINE = 2_000; // around the message, in lines and characters a line
const LINES_OF_TRACE = 600; // of these, in which clues are looked for
const METHOD = /^wrapper_(?:(?:CUDA|XPU|NPU|HPU|MPS|PrivateUse1|Sparse\w{1,20}|Composite\w{1,40})_)?/u;
const ACCELERATOR = /cuda|gpu|mps|xpu|npu|hpu|mtia|hip|xla|privateuse|^[0-9]{1,3}$/u;

/** The last message about devices in `text`, else the last error known to be about something else, else null. */
function read({ messages, glued, other }, text) {
  const window = lines(clean(text));
  const pieces = window.map(squeezed);
  const [joined, unbroken] = [pieces.join(" "), pieces.join("")];
  const found = lastMessage(messages, joined, joined);
  // A terminal may have broken the message inside a word: then it reads on only where the break is cut out.
  const longer = lastMessage(glued, unbroken, unbroken.replaceAll(" ", ""));
  const better = longer && (!found || (longer.message !== found.message && contains(longer, found)));
  if (better) return reading(window, pieces, "", longer);
  return found ? reading(window, pieces, " ", found) : lastOther(other, joined);
}

const contains = (longer, shorter) => longer.match[0].replaceAll(" ", "").includes(shorter.match[0].replaceAll(" ", ""));

/** The message that ends last in `line`. Of those that overlap it: what begins first, then the catalog's order. */
function lastMessage(patterns, line, searched) {
  const found = [];
  for (const { message, needle, pattern } of patterns) {
    const match = searched.includes(needle) && [...line.matchAll(pattern)].at(-1);
    if (match) found.push({ message, match, start: match.index, end: match.index + match[0].length });
  }
  if (!found.length) return null;
  const latest = found.reduce((one, another) => (another.end > one.end ? another : one));
  const overlapping = found.filter((one) => one.end > latest.start);
  return overlapping.reduce((one, another) => (another.start < one.start ? another : one));
}

function lastOther(patterns, line) {
  let [latest, end] = [null, 0];
  for (const { other, needle, pattern } of patterns) {
    const match = line.includes(needle) && [...line.matchAll(pattern)].at(-1);
    if (match && match.index + match[0].length > end) [latest, end] = [other, match.index + match[0].length];
  }
  return latest;
}

function reading(window, pieces, joint, { message, match, start, end }) {
  const starts = [0];
  for (const piece of pieces) starts.push(starts.at(-1) + piece.length + joint.length);
  const from = starts.findLastIndex((begin) => begin <= start);
  const to = starts.findLastIndex((begin) => begin < end);
  const before = window.slice(Math.max(0, from - LINES_BEFORE), from);
  const beside = [pieces[from].slice(0, start - starts[from]), pieces[to].slice(end - starts[to])];
  const after = window.slice(to + 1, to + 1 + LINES_AFTER);
  const left = [...before, beside[0]].map((line) => first(LINE, line));
  const right = [beside[1], ...after].map((line) => first(LINE, line));
  const { frames, ownLines } = readTraceback(left, right);
  const shown = frames.filter((frame) => frame.code);
  const place = shown.findLast((frame) => !inLibrary(frame)) ?? shown.at(-1) ?? null;
  // The frames inside the innermost of the user's own.
  const inner = frames.slice(frames.findLastIndex((frame) => !inLibrary(frame)) + 1);
  const below = inner.map((frame) => `${frame.file}\n${frame.code}`).join("\n");
  // The frame of an installed package in which PyTorch refused; null where the user's own line called PyTorch.
  const refused = shown.findLast((frame) => packageOf(frame) || !inLibrary(frame));
  const libraryFrame = refused && packageOf(refused) ? refused : null;
  const [trace, ownTrace] = [[...left, ...right], ownLines].map(withoutIndents);
  return { message, reads: readsOf(match, left), frames, trace, ownTrace, place, below, libraryFrame };
}

const withoutIndents = (trace) =>
  `\n${trace.slice(-LINES_OF_TRACE).map(squeezed).join("\n")}\n`.replaceAll("\\", "/");

function readsOf(match, before) {
  const reads = Object.fromEntries(Object.entries(match.groups ?? {}).filter(([, value]) => value));
  // Where the tensors of a traced call are, in order; one without a device is on the CPU.
  const line = before.slice(-20).join(" ").split("(*(").at(-1);
  const devices = [...line.matchAll(/FakeTensor\(\.{3}(?:, *device='([^']+)')?, *size/gu)].map(([, device = "cpu"]) => device);
  if (new Set(devices).size > 1) reads.operands = devices.join(", ");
  if (reads.method && !reads.op) reads.op = reads.method.replace(METHOD, "").replace(/^_+|_+$/gu, "");
  if (reads.argument === "tensors" && "op" in reads) reads.joined = reads.op;
  for (const name of ["device", "others"]) if (reads[name]) reads[`${name}_kind`] = kind(reads[name]);
  if (reads.device && reads.others) {
    const kinds = [reads.device_kind, reads.others_kind];
    if (kinds.includes("meta")) reads.between = "meta";
    else if (!kinds.includes("cpu")) reads.between = "two accelerators";
    else if (kinds.includes("accelerator")) reads.between = "cpu and accelerator";
  }
  return reads;
}

function kind(device) {
  device = device.toLowerCase();
  return device.includes("meta") ? "meta" : ACCELERATOR.test(device) ? "accelerator" : "cpu";
}

// ---- says.py

/** What PyTorch is saying: in terms of the layer, where the line that called PyTorch does not call the operation. */
function saysOf({ message, reads, place, libraryFrame }) {
  const layers = message.layers.filter(({ when }) => holds(when, reads)).map(({ says }) => says);
  const line = (libraryFrame ?? place)?.code ?? "";
  const called = layers.length && new RegExp(`\\b${reads.op}_? ?\\(`, "u").test(line);
  return [...(called ? [] : layers), ...message.says].map((sentence) => filled(sentence, reads)).find(Boolean);
}

/** Whether what was read matches all conditions. */
function holds(when, reads) {
  const matches = ([name, want]) => new RegExp(`^(?:${want})$`, "u").test(reads[name] ?? "");
  return Object.entries(when).every(matches);
}

// ---- rank.py

const SHOWN = 5;

/** The causes that the message can have, most likely first, at most five; a case in place of its wider cause. */
function rank(catalog, found, candidates) {
  const { message, reads, place } = found;
  const points = new Map(), because = new Map();
  const speaks = (cause, weight, reason) => {
    points.set(cause, points.get(cause) + weight);
    if (reason && weight > 0) because.get(cause).push([weight, reason]);
  };
  for (const possible of message.causes) {
    const pairs = catalog.causes[possible.id].between;
    if (pairs.length && reads.between && !pairs.includes(reads.between)) continue;
    if (!holds(possible.when, reads)) continue;
    if (!points.has(possible.id)) {
      points.set(possible.id, 0);
      because.set(possible.id, []);
    }
    speaks(possible.id, possible.points, filled(possible.because, reads));
  }
  const line = place && !inLibrary(place) ? place.code : "";
  const texts = { trace: found.trace, own: found.ownTrace, line, below: found.below };
  for (const { clue, pattern, unless } of compiled(catalog).clues) {
    const concerned = Object.entries(clue.causes).filter(([cause]) => points.has(cause));
    const meant = concerned.length && (!clue.messages.length || clue.messages.includes(message.id));
    if (meant && stands(pattern, unless, texts[clue.where]))
      for (const [cause, weight] of concerned) speaks(cause, weight, filled(clue.because, reads));
  }
  for (const candidate of candidates)
    if (points.has(candidate.cause)) speaks(candidate.cause, candidate.points, candidate.because);
  for (const [cause, own] of points)
    if (widest(cause) !== cause && own > 0) {
      points.set(cause, own + (points.get(widest(cause)) ?? 0));
      because.get(cause).push(...(because.get(widest(cause)) ?? []));
    }
  const shown = [...points.keys()]
    .filter((cause) => points.get(cause) > 0)
    .sort((one, another) => points.get(another) - points.get(one));
  return shown
    .filter((cause, at) => shown.findIndex((other) => widest(other) === widest(cause)) === at)
    .slice(0, SHOWN)
    .map((id) => {
      const reasons = because.get(id).sort(([one], [another]) => another - one);
      const texts = [...new Set(reasons.map(([, reason]) => reason))];
      // A message's sentence may say more than another of it.
      return { id, because: texts.filter((text) => !texts.some((other) => other !== text && other.startsWith(text))) };
    });
}

/** Whether a clue's pattern is in a text; with `unless`, whether it is in a line that `unless` is not in. */
function stands(pattern, unless, text) {
  if (!unless || !pattern.test(text)) return pattern.test(text);
  return text.split("\n").some((line) => pattern.test(`\n${line}\n`) && !unless.test(line));
}

/** `sentence` with its {names} replaced by what was read, or null where one of them was not. */
function filled(sentence, reads) {
  const missing = [...sentence.matchAll(/\{(\w+)\}/gu)].some(([, name]) => !Object.hasOwn(reads, name));
  return missing ? null : sentence.replace(/\{(\w+)\}/gu, (_, name) => reads[name]);
}

// The catalog's patterns, compiled when the first text comes.
const catalogs = new WeakMap();

function compiled(catalog) {
  if (!catalogs.has(catalog)) {
    const messages = [], glued = [], other = [];
    for (const message of catalog.messages)
      for (const [pattern, broken, needle] of message.patterns) {
        messages.push({ message, needle, pattern: new RegExp(pattern, "gu") });
        glued.push({ message, needle: needle.replaceAll(" ", ""), pattern: new RegExp(broken, "gu") });
      }
    for (const one of catalog.other)
      for (const [pattern, , needle] of one.patterns)
        other.push({ other: one, needle, pattern: new RegExp(pattern, "gu") });
    const clues = catalog.clues.map((clue) => {
      return { clue, pattern: new RegExp(clue.pattern, "u"), unless: clue.unless && new RegExp(clue.unless, "u") };
    });
    catalogs.set(catalog, { messages, glued, other, clues });
  }
  return catalogs.get(catalog);
}
