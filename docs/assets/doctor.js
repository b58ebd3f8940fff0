// The doctor in the browser: what samedevice/doctor/text is in Python, by the same steps and names, on the same catalog
// (assets/catalog.json). The larger steps are in the folder beside this file. A test compares the two: a change here is
// a change there.

import { answer, widest } from "./doctor/answer.js";
import { use } from "./doctor/calls.js";
import { lastError } from "./doctor/last-error.js";
import { inLibrary, packageOf } from "./doctor/libraries.js";
import { clean, first, last, lines, matched, squeezed, typed, WINDOW } from "./doctor/normalise.js";
import { isInPassing, isQuoted, isSource, passedOver } from "./doctor/standing.js";
import { tell } from "./doctor/tell.js";
import { nearest, readTraceback } from "./doctor/traceback.js";
import { ways } from "./doctor/ways.js";
import { nameOfOwner, owner } from "./doctor/whose.js";

/** What PyTorch is saying in `text`, and why, by the parsed catalog.json. Any text will do. */
export function explain(catalog, text) {
  use(catalog);
  const found = read(catalog, text.slice(-WINDOW));
  const nobody = { culprits: [], tell: "", ways: [], owner: null };
  const nowhere = { place: null, others: [], last: "", other: null, ask: "" };
  const nothing = { message: null, reads: {}, causes: [], ...nobody, ...nowhere };
  if (!found) return { ...nothing, says: NOT_BLANK.test(text) ? UNKNOWN : EMPTY, ask: WHOLE };
  if (found.says) return { ...nothing, says: `This is not a device error. ${found.says}`, other: found };
  const { message, reads, place, others, last } = found;
  const says = saysOf(found);
  const ask = message.ask || (found.frames.length ? "" : asked(text));
  const [causes, named] = answer(found, (reading, candidates) => rank(catalog, reading, candidates));
  const culprits = named.map((each) => readCulprit(each, found));
  const keeper = owner(found, causes[0]?.id, named.map(({ change }) => change.frame));
  const toRun = causes.length && !keeper ? ways(catalog, found, causes[0].id) : [];
  const told = { culprits, tell: tellOf(culprits, named), ways: toRun, owner: keeper };
  return { message, reads, says, causes, ...told, place, others, last, other: null, ask };
}

/** What to paste for a surer answer than that to a message without frames. */
function asked(text) {
  if (/(?:FAILED|ERROR) [^ \n]{1,300}::/u.test(text)) return ONE_TEST;
  return LOOKS_LIKE_A_TRACEBACK.test(text) ? "" : TRACEBACK;
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
  return { ...what, fix: fix || `${expression}.to(...)`, edits, instead, owner: edits.length ? nameOfOwner(frame) : "" };
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
const ONE_TEST = "This summary does not show which tensor it is. Run one of these tests with `pytest --tb=long`, and paste all that it prints.";
const TRACEBACK =
  "For a surer answer paste the whole traceback, from `Traceback (most recent call last)` to its last line: " +
  "its frames often tell which cause it is.";

// ---- match.py, read.py

const LINES_BEFORE = 1_200, LINES_AFTER = 60, LINE = 2_000; // around the message, in lines and characters a line
const LINES_OF_TRACE = 600; // of these, in which clues are looked for
const QUOTED = 500; // characters of the message that a report to others repeats
const METHOD = /^wrapper_(?:(?:CUDA|XPU|NPU|HPU|MPS|PrivateUse1|Sparse\w{1,20}|Composite\w{1,40})_)?/u;
const ACCELERATOR = /cuda|gpu|mps|xpu|npu|hpu|mtia|hip|xla|privateuse|^[0-9]{1,3}$/u;

const OTHERS = 100, OF_A_MESSAGE = 10; // other messages that are looked at, the last ones: of all, and of one of them
const BEFORE_OTHERS = 200, AFTER_OTHERS = 5, FAMILY = 24; // lines around them, and characters that shortened forms share

/** The message about devices that `text` explains, else the last error known to be about something else, else null. */
function read(catalog, text) {
  const { messages, glued, other } = compiled(catalog);
  const window = lines(clean(text)), pieces = matched(window), over = passedOver(window);
  const [joined, unbroken] = [pieces.join(" "), pieces.join("")];
  const all = apart(messages, joined, joined), stands = within(window, pieces, " ");
  const said = all.map(stands).filter(({ head }) => !isQuoted(head));
  const found = said.find(({ head, from }) => !over.has(from) && !isInPassing(head)) ?? said[0];
  // A terminal may have broken the message inside a word: then it reads on only where the break is cut out.
  const [longer] = apart(glued, unbroken, unbroken.replaceAll(" ", ""));
  const better = found ? longer && longer.message !== found.message && contains(longer, found) : longer && !all.length;
  const alone = (match, joint) => ({ ...reading(window, within(window, pieces, joint)(match)), others: [], last: "" });
  if (better) return alone(longer, "");
  if (!found) {
    const [small, parts] = typed(joined, catalog.asking), about = lastOther(inAnyCase(other, small), small);
    const known = () => apart(inAnyCase(messages, small), small, small)[0] ?? (about ? null : fragment(catalog, small, parts));
    const guessed = all.length ? null : known();
    return guessed ? alone(guessed, " ") : (lastOther(other, joined) ?? about);
  }
  const told = reading(window, found);
  return { ...told, others: othersOf(window, said, found, told), last: lastOf(window, said, found, over) };
}

/** The line of the error that comes last, unless it is one of the device errors that are named. */
function lastOf(window, said, { to }, over) {
  const last = lastError(window, to + 1, over);
  const at = last.indexOf(": "), text = at < 0 ? "" : last.slice(at + 2); // it may be a copy that was cut
  const isNamed = (each) => last.toLowerCase().includes(family(each)) || (text && each.match[0].includes(text));
  return said.some(isNamed) ? "" : last;
}

const family = ({ match }) => first(FAMILY, match[0]).toLowerCase();

/** The message of which the words are a part; the whole text is the match. */
function fragment({ messages, phrases }, small, parts) {
  const [found] = parts.flatMap((part) => phrases.find(([, phrase]) => phrase.includes(part)) ?? []);
  return found >= 0 ? { message: messages[found], match: [small], start: 0, end: small.length } : null;
}

/** Patterns that ignore capitals, of those that may match; `torch.cuda` alone is no type without a device. */
function inAnyCase(patterns, small) {
  const any = ({ source }) => new RegExp(source.replaceAll("[A-Z]\\w{1,24}", "$&(?![.\\w])"), "gi");
  const possible = patterns.filter(({ needle }) => small.includes(needle.toLowerCase()));
  return possible.map((each) => ({ ...each, needle: "", pattern: any(each.pattern) }));
}

const contains = (longer, shorter) => longer.match[0].replaceAll(" ", "").includes(shorter.match[0].replaceAll(" ", ""));

/** The messages in `line`, the one that ends last first. Of those that overlap it: what begins first, then the catalog's order. */
function apart(patterns, line, searched) {
  const rest = [], found = [];
  patterns.forEach(({ message, needle, pattern }, order) => {
    if (!searched.includes(needle)) return;
    for (const match of line.matchAll(pattern))
      rest.push({ message, match, order, start: match.index, end: match.index + match[0].length });
  });
  rest.sort((one, other) => one.end - other.end || other.order - one.order);
  while (rest.length) {
    const overlapping = [], { start } = rest.at(-1);
    while (rest.at(-1)?.end > start) overlapping.push(rest.pop());
    found.push(overlapping.reduce((one, other) => (other.start - one.start || other.order - one.order) < 0 ? other : one));
    while (rest.at(-1)?.end > found.at(-1).start) rest.pop();
  }
  return found;
}

/** What gives a message its first line and its last, and what stands before it and after it in them. */
function within(window, pieces, joint) {
  const starts = [0];
  for (const piece of pieces) starts.push(starts.at(-1) + piece.length + joint.length);
  return (found) => {
    const from = lastAtMost(starts, found.start), to = lastAtMost(starts, found.end - 1);
    const head = pieces[from].slice(0, found.start - starts[from]), tail = pieces[to].slice(found.end - starts[to]);
    const named = /[\w.]{1,80}(?:Error|Exception): ?$/u.exec(head)?.[0] ?? "";
    const quoted = named + pieces.slice(from, to + 1).join(joint).slice(head.length);
    return { ...found, from, to, head, tail, quoted };
  };
}

/** The place of the last of some numbers in order that is at most `most`. */
function lastAtMost(numbers, most) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The other messages, each once: it has a place of its own, or none and is no shortened form. */
function othersOf(window, said, chosen, told) {
  const name = (message, place) => [message.id, place?.file.split("/").at(-1) ?? "", place?.line ?? 0].join();
  const places = new Set([name(told.message, told.place)]), families = new Set([family(chosen)]), times = {}, others = [];
  said.slice(0, OTHERS).forEach((found, number) => {
    const { message, from, to } = found;
    times[message.id] = (times[message.id] ?? 0) + 1;
    if (found === chosen || times[message.id] > OF_A_MESSAGE || isSource(found.head)) return;
    const begins = number + 1 < said.length ? said[number + 1].to + 1 : 0;
    const near = around(window, found, Math.max(begins, from - BEFORE_OTHERS), AFTER_OTHERS);
    const place = placeOf(nearest(...near).frames);
    if (places.has(name(message, place))) return;
    places.add(name(message, place));
    others.unshift({ message, place, family: family(found) });
    if (place) families.add(family(found));
  });
  return others.filter((other) => other.place || !families.has(other.family)).map(({ message, place }) => ({ message, place }));
}

function placeOf(frames) {
  const shown = frames.filter((frame) => frame.code);
  return shown.findLast((frame) => !inLibrary(frame)) ?? shown.at(-1) ?? null;
}

/** The lines before a message from the one of number `start` on, and those after it. */
function around(window, { from, to, head, tail }, start, after) {
  const sides = [[...window.slice(start, from), head], [tail, ...window.slice(to + 1, to + 1 + after)]];
  return sides.map((side) => side.map((line) => first(LINE, line)));
}

function lastOther(patterns, line) {
  let [latest, end] = [null, 0];
  for (const { other, needle, pattern } of patterns) {
    const match = line.includes(needle) && [...line.matchAll(pattern)].at(-1);
    if (match && match.index + match[0].length > end) [latest, end] = [other, match.index + match[0].length];
  }
  return latest;
}

function reading(window, found) {
  const [left, right] = around(window, found, Math.max(0, found.from - LINES_BEFORE), LINES_AFTER);
  const { frames, ownLines } = readTraceback(left, right);
  const shown = frames.filter((frame) => frame.code), place = placeOf(frames);
  // The frames inside the innermost of the user's own.
  const inner = frames.slice(frames.findLastIndex((frame) => !inLibrary(frame)) + 1);
  const below = inner.map((frame) => `${frame.file}\n${frame.code}`).join("\n");
  // The frame of an installed package in which PyTorch refused; null where the user's own line called PyTorch.
  const refused = shown.findLast((frame) => packageOf(frame) || !inLibrary(frame));
  const libraryFrame = refused && packageOf(refused) ? refused : null;
  const [trace, ownTrace] = [[...left, ...right], ownLines].map(withoutIndents);
  const quoted = first(QUOTED, found.quoted);
  const { message, match } = found;
  return { message, reads: readsOf(match, left), frames, trace, ownTrace, quoted, place, below, libraryFrame };
}

const withoutIndents = (trace) =>
  `\n${trace.slice(-LINES_OF_TRACE).map(squeezed).join("\n")}\n`.replaceAll("\\", "/");

function readsOf(match, before) {
  const reads = Object.fromEntries(Object.entries(match.groups ?? {}).filter(([, value]) => value));
  // Where the tensors of a traced call are, in order; one without a device is on the CPU.
  const text = before.slice(-20).join(" "), at = text.lastIndexOf("(*("), line = at < 0 ? text : text.slice(at + 3);
  const devices = [...line.matchAll(/FakeTensor\(\.{3}(?:, *device='([^']+)')?, *size/gu)].map(([, device = "cpu"]) => device);
  if (new Set(devices).size > 1) Object.assign(reads, { traced: tracedName(text.slice(0, Math.max(at, 0))), operands: devices.join(", ") });
  if (!reads.traced) delete reads.traced;
  if (reads.method && !reads.op) reads.op = reads.method.replace(METHOD, "").replace(/^_+|_+$/gu, "");
  if (reads.argument === "tensors" && "op" in reads) reads.joined = reads.op;
  for (const name of ["device", "others"])
    if (reads[name]) {
      if (["cu", "cud"].includes(reads[name])) reads[name] = "cuda"; // of a message that was cut
      reads[`${name}_kind`] = kind(reads[name]);
    }
  if (reads.device && reads.others) {
    const kinds = [reads.device_kind, reads.others_kind];
    if (kinds.includes("meta")) reads.between = "meta";
    else if (!kinds.includes("cpu")) reads.between = "two accelerators";
    else if (kinds.includes("accelerator")) reads.between = "cpu and accelerator";
  }
  return reads;
}

/** The name of what was called: "add" of `<built-in function add>`, "F.embedding" of a function in Python. */
function tracedName(head) {
  const called = first(200, last(200, head)).split("call_function ").at(-1).replace(/[<>]/gu, " ");
  const words = called.split(" ").filter(Boolean), name = words.find((word) => !["built-in", "function", "method"].includes(word));
  return name ? (words[0] === "function" ? "F." : "") + name : "";
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
