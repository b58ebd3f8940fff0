// The answer to a paste, its causes in order and what is named, one tensor or two to four of which it is one: what
// samedevice/doctor/text/answer.py is in Python.

import { changesOfCause } from "./by-cause.js";
import { load } from "./calls.js";
import { candidates, LIKELY, MOST } from "./candidates.js";
import { canBeAsked, change } from "./changes.js";
import { isOftenANumber } from "./deciding.js";
import { created, discardedMoves, passedToALibrary } from "./elsewhere.js";
import { readLine } from "./lines.js";
import { operations } from "./operations.js";
import { CPU } from "./refusing.js";
import { words } from "./tokens.js";
import { inLibrary, packageOf } from "./libraries.js";
import { OF_OPERATIONS } from "./whose.js";

// What a form tells; a name of which the line tells nothing is none of these.
const OF_A_FORM = words(
  "unregistered_tensor_attribute model_not_moved loss_weight_not_moved submodule_created_in_forward library_bug " +
    "in_place_or_copy metric_or_accumulator_state hidden_state_not_moved",
);
// A line of a paste that may be code, without the signs that quote it.
const CODE = new RegExp(
  String.raw`^(?:>{1,3} ?|\x60{1,3}|-{1,8}> ?\d{1,6} |\[\d{1,6}\] )?` +
    String.raw`(?<code>(?:[\w.\[\], '"]{1,80} ?[\-+*\/@]?= ?|return |for .{1,80} in )[^=\x60][^\x60]{2,300}` +
    String.raw`|[\w.]{1,80}\([^\x60]{1,300}\)|\[[^\x60]{1,300}\])(?:\x60|$)`,
  "u",
);
const LINES = 20; // that may be code, of a paste without a traceback: the last ones
const OF_PROSE = 0.95;
const OF_A_LIBRARY = 5.5, IN_A_LIBRARY = 4; // where two tensors met in a library's own line; in what that line calls
const OF_A_LAYER = /^(?:weight|bias|running_mean|running_var|mat[12]|input|index|indices|hx|cx|hidden)$/u;

/** The wider cause of a case; else the cause itself. */
export const widest = (cause) => load().causes[cause].within || cause;

/** The causes, the most likely first, and what is named, in the order of its causes; `rank` puts causes in order. */
export function answer(reading, rank) {
  let [found, evidence] = candidatesOf(reading);
  const thrownAway = discardedMoves(reading), causes = rank(reading, [...evidence, ...thrownAway]);
  if (causes.length && widest(causes[0].id) === "in_place_or_copy" && thrownAway.length) found = thrownAway.slice(0, 1);
  else if (reading.libraryFrame) found = found.filter((each) => !packageOf(each.frame) || isOfALibrary(each));
  found = found.map((each) => withACause(each, causes));
  // A change moves all that are known.
  const couldBe = found.every(({ isKnown }) => isKnown) ? found.slice(0, 1) : found;
  const changed = couldBe.length > MOST ? [] : couldBe.map((each) => ofCandidate(each, found, reading));
  const named = changed.filter((each) => each.change);
  // Of what was cut off, nobody knows whether it is the one.
  if (!named.length || named.length < couldBe.length) return [causes, ofCause(causes, reading)];
  const numbers = found.filter(({ node }) => isOftenANumber(node)).map(({ expression }) => expression);
  const place = ({ cause, change: { expression } }) => {
    const own = causes.findIndex(({ id }) => id === cause), wide = causes.findIndex(({ id }) => widest(id) === cause);
    const at = own >= 0 ? own : wide >= 0 ? wide + causes.length : 2 * causes.length;
    return at + 1_000 * numbers.includes(expression);
  };
  named.sort((one, other) => place(one) - place(other));
  return [named.length === 1 ? beginningWith(named[0].cause, causes, found) : causes, named];
}

/**
 * What is named: the cause that it would be, the change that moves it, its kind, whether it is called as what is often a
 * number or may have begun as one, and whether a line above the failing one can print its device.
 */
function ofCandidate(candidate, among, reading) {
  const { cause, kind, node } = candidate, mayBeANumber = kind === "total" || isOftenANumber(node);
  return { cause, change: change(candidate, among, reading), kind, mayBeANumber, canBeAsked: canBeAsked(candidate) };
}

/** What may be named, and all that speaks for a cause. */
function candidatesOf(reading) {
  const { frames, libraryFrame: frame, place } = reading;
  if (!frames.some(({ code }) => code)) return ofProse(reading);
  if (frame) {
    const passed = passedToALibrary(reading);
    if (passed.length) return [passed, passed];
    const found = candidates(reading, frame).map((each) => ofALibrary(each, frame));
    const isTold = found.some(({ cause }) => cause === "library_bug");
    return [found, isTold ? found : [...found, ...libraryAlone(frame, reading)]];
  }
  if (!place || inLibrary(place)) return [[], []];
  const found = candidates(reading, place);
  return [found, found.length ? found : created(reading, place)];
}

/** Whether a library's own line creates it on the CPU. */
const isOfALibrary = ({ cause, isKnown }) => cause === "library_bug" && isKnown;

/** The library is blamed for what its own line creates or keeps; what it was given may be the user's. */
function ofALibrary(candidate, frame) {
  const isOwn = ["tensor_created_in_forward_without_device", "unregistered_tensor_attribute"].includes(candidate.cause);
  if (!isOwn) return { ...candidate, because: "" };
  const because = `The line that failed is ${packageOf(frame)}'s own, and so is \`${candidate.expression}\`.`;
  return { ...candidate, cause: "library_bug", because };
}

/** A library is blamed where two tensors met in its own line, and the message names neither. */
function libraryAlone(frame, { reads }) {
  const line = readLine(frame.code), isMixed = reads.between === CPU && !OF_A_LAYER.test(reads.argument ?? "");
  if (!line || !isMixed || OF_OPERATIONS.includes(packageOf(frame))) return [];
  const isAnOperator = [...operations(line)].some(({ kind }) => ["operator", "function"].includes(kind));
  const because = `The line that failed is ${packageOf(frame)}'s own.`;
  return [{ cause: "library_bug", points: isAnOperator ? OF_A_LIBRARY : IN_A_LIBRARY, because }];
}

/** The lines of code that stand in a paste without a traceback; where two could be it, neither is named. */
function ofProse(reading) {
  const lines = [], evidence = [];
  for (const frame of codeLines(reading).slice(-LINES)) {
    const here = candidates(reading, frame), found = here.length ? here : created(reading, frame);
    if (!found.length || isMovedLater(found[0], reading)) continue;
    if (here.length) lines.push(here);
    evidence.push(...found.filter(({ points }) => points >= LIKELY));
  }
  const told = evidence.map((each) => ({ ...each, points: each.points * OF_PROSE }));
  return [lines.length === 1 ? lines[0] : [], told];
}

/** The lines of a paste without a traceback that may be code, as frames without a file. */
function codeLines({ trace }) {
  const found = trace.split("\n").map((text) => CODE.exec(text)?.groups.code.replace(/[.;, ]+$/u, "")).filter(Boolean);
  return [...new Set(found)].map((code) => ({ file: "", line: 0, function: "", code, marked: [] }));
}

/** Whether a line creates a tensor that another line of the paste moves. */
function isMovedLater({ line: { text } }, { trace }) {
  const name = /^(\w+) ?=/u.exec(text)?.[1];
  return name !== undefined && [".to(", ".cuda("].some((move) => trace.includes(name + move));
}

/** A candidate whose form does not tell its cause gets the most likely one that a name can have. */
function withACause(candidate, causes) {
  const likely = causes.find(({ id }) => !OF_A_FORM.includes(widest(id)))?.id;
  const first = likely ?? (causes.length ? widest(causes[0].id) : "input_not_moved");
  return { ...candidate, cause: candidate.cause || first };
}

/** The changes that the most likely cause tells by itself. */
function ofCause(causes, reading) {
  if (!causes.length) return [];
  const [{ id }] = causes, own = reading.frames.filter((frame) => frame.code && !inLibrary(frame)).reverse();
  for (const frame of own.length ? own : codeLines(reading).slice(-LINES)) {
    let changes = changesOfCause(id, frame, reading);
    if (!changes.length) changes = changesOfCause(widest(id), frame, reading);
    const named = (change) => ({ cause: id, change, canBeAsked: true });
    if (changes.length) return changes.length <= MOST ? changes.map(named) : [];
  }
  return [];
}

/** The causes with that of what is named before the others. */
function beginningWith(cause, causes, found) {
  const speaking = found.filter((each) => each.cause === cause && each.because).map(({ because }) => because);
  const first = causes.find(({ id }) => [id, widest(id)].includes(cause)) ?? { id: cause, because: speaking };
  return [first, ...causes.filter((each) => each !== first && widest(each.id) !== widest(first.id))];
}
