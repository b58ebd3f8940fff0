// The frames of a pasted traceback: what samedevice/doctor/text/traceback.py is in Python, by the same steps. A frame
// has a file, a line, a function, the code that is shown, and which part of it Python underlines.

import { inLibrary } from "./libraries.js";
import { first } from "./normalise.js";
import { SECTION } from "./standing.js";

const FILE = "(?<file>[^ ].{0,400}?)", SOURCE = String.raw`(?<file>[^ ].{0,400}?\.pyx?)`;
const NUMBER = "(?<line>[0-9]{1,7})", FUNCTION = "(?<function>.{1,400})";
const FORMS = [
  String.raw`^(?<margin>.{0,200}?)File "(?<file>[^"]{1,400})", line ${NUMBER}(?:,? in ${FUNCTION})?$`,
  String.raw`^ {0,40}File ${FILE}:${NUMBER}(?:, in ${FUNCTION})?$`,
  String.raw`^ {0,40}(?<file>(?:Cell|Input) In ?\[[0-9]{1,7}\])(?:, line ${NUMBER})?(?:, in ${FUNCTION})?$`,
  String.raw`^ {0,40}(?<file>[^ ].{0,400}?\.ipynb Cell [0-9]{1,5})(?: line ${NUMBER})?(?: in ${FUNCTION})?$`,
  String.raw`^(?<file>[^ ].{0,400}?(?:\.pyx?|>)) in (?<function><module>|[\w.<>: ]{1,200}\(.{0,400})$`,
  String.raw`^(?<margin>)${SOURCE}:${NUMBER}: in ${FUNCTION}$`,
  String.raw`^${SOURCE}:${NUMBER}:(?<shown>)(?: [A-Z]\w{0,80})?$`,
  String.raw`^ {0,40}(?<file>[^ ].{0,400}?(?:\.pyx?|>)):${NUMBER} in(?: ${FUNCTION})?$`,
  String.raw`^ {1,40}(?<file>)in (?<function>[\w.<>: ]{1,200}?):${NUMBER}$`,
].map((form) => new RegExp(form, "u"));
// Of a log that was cut in the middle of a line: 'le "/home/me/train.py", line 3, in main'
const CUT = String.raw`^(?<margin>)(?:[File ]{0,5}")?(?<file>[^"]{1,400})", line ${NUMBER}(?:,? in ${FUNCTION})?$`;
const OF_A_FIRST_LINE = [...FORMS, new RegExp(CUT, "u")];
const PATH_BEGINS = /^ {0,40}(?:\/|~|[A-Za-z]:[\/\\])[^":]{10,400}$/u;
const PATH_ENDS = /^ {1,40}[^ :]{1,400}:[0-9]{1,7} in(?: .{1,200})?$/u;
const NAME = /^ {1,40}[\w.<>]{1,200}$/u;
const NUMBERED = /^ {0,40}(?<arrow>(?:-{1,8}>|\u2771) {0,8})?(?<line>[0-9]{1,7}) (?<code>.{1,400})$/u;
const MARKED = /^>(?<code> {2,200}[^ ].{0,400})$/u;
// A paste that lost its line ends: "in step y = f(x) RuntimeError:", behind the frame's file and line
const JOINED = /^(?<function>[\w.]{1,80}) (?<code>[^ ].{0,400}?)(?: [\w.]{1,80}(?:Error|Exception):?)?$/u;
const CARETS = /^[ ~^]{1,400}$/u;
const ERROR = /^(?:[\w.]{0,200}(?:Error|Exception|Warning|Interrupt|Exit)\b|Traceback |During |The above )/u;
const CHAINED = /During handling of the above|The above exception was/u;
const ANOTHER = new RegExp(String.raw`${CHAINED.source}|Traceback \(most recent call last\)|\(most recent call first\)`, "u");
const OWN_LINE = /^[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit)(?::|$)/u;
const BACKSLASH = /\\(?!u(?:061c|200[ef]|202[a-e]|206[6-9]))/gu; // of a path: `clean` writes the others
// Raises what PyTorch would raise in C++, where it has no frames.
const SIMULATION = /(?:^|\/)samedevice\/(?:simulation|placement|introspect|doctor|doors)\//u;

/** The frames in the lines before a message and after it, and the lines of no library's frame. */
export function readTraceback(before, after) {
  const near = nearest(before, after), rest = after.slice(endOf(after));
  if (near.frames.length || rest.some((line) => OWN_LINE.test(line))) {
    const earlier = framesIn(before.slice(0, startOf(before)));
    return { ...near, ownLines: [...earlier.ownLines, ...near.ownLines, ...rest] };
  }
  const far = framesIn(after);
  return { ...far, ownLines: [...before, ...far.ownLines] };
}

/** The frames of a message's own traceback alone, and its lines. */
export const nearest = (before, after) => framesIn([...before.slice(startOf(before)), ...after.slice(0, endOf(after))]);

/** The number of the line at which another traceback begins, or another part of a report. */
function endOf(after) {
  const at = after.findIndex((line) => ANOTHER.test(line) || SECTION.test(line));
  return at < 0 ? after.length : at;
}

/** The number of the line at which the traceback that stands last begins, or the part of a report with it. */
function startOf(before) {
  const isInner = (line, at) => line.includes("Original Traceback") || (at > 0 && CHAINED.test(before[at - 1]));
  const begins = (line, at) =>
    SECTION.test(line) || (line.includes("Traceback (most recent call last)") && !isInner(line, at));
  return Math.max(0, before.findLastIndex(begins));
}

function framesIn(lines) {
  const found = [], ownLines = [];
  let code = []; // of the last frame; in pytest's long form, of the next
  let margin = null; // what stands before that code; null if its lines are numbered
  let number = 0; // of its last line
  let path = ""; // the part of a file's path that stood in the line before
  let isLibrary = false; // whether the last frame is a library's
  for (const [at, written] of lines.entries()) {
    let line = written.trimEnd(), text;
    if (path && PATH_ENDS.test(line)) line = path + line.trim();
    path = "";
    if (ERROR.test(line)) isLibrary = false;
    const form = (at ? FORMS : OF_A_FIRST_LINE).find((form) => form.test(line))?.exec(line).groups;
    const numbered = NUMBERED.exec(line)?.groups, marked = MARKED.exec(line)?.groups;
    const frame = found.at(-1);
    if (form) {
      if (!("shown" in form)) code = [];
      margin = form.margin ?? null;
      const joined = margin === null ? null : JOINED.exec(form.function ?? "")?.groups;
      if (joined) code = [joined.code];
      found.push({
        file: form.file.trim().replace(BACKSLASH, "/"),
        line: Number(form.line ?? 0),
        function: (joined?.function ?? form.function ?? "").split("(")[0].trim(),
        code: dedented(code),
        marked: [],
      });
      isLibrary = inLibrary(found.at(-1));
    } else if (numbered && frame && margin === null) {
      const begins = !code.length && (numbered.arrow || Number(numbered.line) === frame.line);
      if (begins || (open(code) && Number(numbered.line) === number + 1)) {
        number = Number(numbered.line);
        code.push(numbered.code);
        Object.assign(frame, { line: frame.line || number, code: dedented(code) });
      }
    } else if (marked) {
      [code, margin] = [[` ${marked.code}`], null];
    } else if (margin !== null && (text = beyond(margin, line)) && CARETS.test(text)) {
      if (code.length === 1 && frame && !frame.marked.length)
        frame.marked = [Math.max(0, indentOf(text) - indentOf(code[0])), text.length - indentOf(code[0])];
    } else if (margin !== null && text) {
      if (!code.length || open(code)) {
        code.push(first(400, text));
        Object.assign(frame, { code: dedented(code), marked: [] });
      } else margin = null;
    } else if (margin === null && open(code) && line.startsWith("    ") && !CARETS.test(line)) {
      code.push(first(400, line));
    } else if (NAME.test(line) && frame && !frame.function && !frame.code) {
      frame.function = line.trim();
    } else if (PATH_BEGINS.test(line)) {
      path = line.trim();
    }
    if (!isLibrary) ownLines.push(written);
  }
  return { frames: found.filter(({ file }) => !SIMULATION.test(file)), ownLines };
}

/** What a line shows right of `margin`, or "" if it cannot be the code of a frame that stood behind it. */
function beyond(margin, line) {
  const indent = indentOf(line);
  // Without any indents, as where a web page lost them, only an error's own line tells itself from code.
  // The first line of a paste may have kept one blank.
  if (!margin.trim()) return indent > margin.length || (margin.length < 2 && !ERROR.test(line)) ? line : "";
  const alike = line.slice(0, margin.length).replace(/[0-9]/gu, "0") === margin.replace(/[0-9]/gu, "0");
  const text = line.slice(margin.length);
  return alike && text.startsWith("  ") ? text : "";
}

/** Whether a statement goes on in the next line; not for a line that `rich` cut, which ends anywhere. */
function open(code) {
  const text = code.join("");
  const count = (signs) => [...text].filter((sign) => signs.includes(sign)).length;
  return /[([{,]$/u.test(text) && code.length < 10 && count("([{") > count(")]}");
}

function dedented(code) {
  const indent = Math.min(...code.map(indentOf));
  return code.map((line) => line.slice(indent)).join("\n");
}

const indentOf = (line) => line.length - line.trimStart().length;
