// The doctor in the browser: what samedevice/doctor/text is in Python, by the same steps and names, on the same catalog
// (assets/catalog.json). A test compares the two: a change here is a change there.

export const WINDOW = 200_000; // characters that are read: the last ones, for an error stands at the end

/** What PyTorch is saying in `text`, and why, by the parsed catalog.json. Any text will do. */
export function explain(catalog, text) {
  const found = read(compiled(catalog), text.slice(-WINDOW));
  const nothing = { message: null, reads: {}, causes: [], place: null, other: null, ask: "" };
  if (!found) return { ...nothing, says: NOT_BLANK.test(text) ? UNKNOWN : EMPTY, ask: WHOLE };
  if (found.says) return { ...nothing, says: `This is not a device error. ${found.says}`, other: found };
  const { message, reads, place } = found;
  const says = message.says.map((sentence) => filled(sentence, reads)).find(Boolean);
  const ask = message.ask || (found.frames.length ? "" : TRACEBACK);
  return { message, reads, says, causes: rank(catalog, found), place, other: null, ask };
}

// What Python takes for a blank: \s has another set.
const NOT_BLANK = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u;
const EMPTY = "There is no text to explain.";
const UNKNOWN = "This text holds no PyTorch device error that we know.";
const WHOLE = "Paste the whole error, from `Traceback (most recent call last)` to its last line.";
const TRACEBACK =
  "For a surer answer paste the whole traceback, from `Traceback (most recent call last)` to its last line: " +
  "its frames often tell which cause it is.";

// ---- normalise.py

const LINE_END = /\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]/gu;
const COLOUR = /\x1b\[[0-9;:?]{0,40}[@-~]|\x1b\][^\x07\x1b\n]{0,1000}(?:\x07|\x1b\\)/gu;
const COLOUR_WRITTEN = /\[(?:[0-9]{1,3};){0,8}[0-9]{1,3}m/gu;
const ESCAPES_WRITTEN = ["\\u001b[", "\\x1b[", "\\033[", "^[[", "\u241b["];
const CONTROL = /[\x00-\x08\x0e-\x1f\x7f-\x9f]/gu;
const LONE_SURROGATE = /\p{Surrogate}/gu;
const BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2500-\u259f]/gu;
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/gu;
const SIGNS = "\u2018\u2019\u201c\u201d\uff07\uff02\uff0c\uff1a\uff08\uff09\uff01", PLAIN = "''\"\"'\",:()!";
const SIGN = new RegExp(`[${SIGNS}]`, "gu");
const ENTITIES = { "&#39;": "'", "&#x27;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&amp;": "&" };
const LINE_END_WRITTEN = /\\n(?=  File |Traceback|    |[A-Z]\w{2,40}(?:Error|Exception)\b)/gu;
const NOTEBOOK_LINK = /<a href='vscode-[^'>\n]{1,1000}'>([0-9]{1,7})<\/a>/gu;
const PREFIX = new RegExp(
  String.raw`^ {0,200}(?:(?:\[(?:rank|default)[0-9]{1,5}\]:|\[[0-9]{1,5},[0-9]{1,5}\]<std(?:err|out)>:` +
    String.raw`|\([\w:.\-]{1,80} pid=[0-9]{1,9}(?:, ip=[0-9.]{1,20})?\)|[>|]) ?)+`,
  "gmu",
);
const PYTEST = /^E(?: {3,40}|$)/gmu;

/** `text` in its lines, without colours, boxes, prefixes and typographic quotes; its only blank is the space. */
function clean(text) {
  text = text.replace(LINE_END, "\n").replaceAll("\t", "    ").replace(COLOUR, "").replace(CONTROL, " ");
  if (text.search(COLOUR_WRITTEN) >= 0)
    text = ESCAPES_WRITTEN.reduce((rest, escape) => rest.replaceAll(escape, "["), text).replace(COLOUR_WRITTEN, "");
  text = text.replace(LONE_SURROGATE, "\ufffd").replace(BLANK, " ").replace(INVISIBLE, "");
  text = text.replace(SIGN, (sign) => PLAIN[SIGNS.indexOf(sign)]);
  for (const [entity, sign] of Object.entries(ENTITIES)) text = text.replaceAll(entity, sign);
  if (text.search(LINE_END_WRITTEN) >= 0) text = text.replace(LINE_END_WRITTEN, "\n").replaceAll('\\"', '"');
  text = text.replace(NOTEBOOK_LINK, "$1");
  return text.includes("E   ") && text.search(PYTEST) >= 0 ? text.replace(PYTEST, "") : text.replace(PREFIX, "");
}

const lines = (cleaned) => cleaned.split("\n").filter((line) => line.trim());
const squeezed = (line) => line.trim().replace(/ +/gu, " ");

// Python counts characters, and JavaScript halves of those beyond 16 bits.
const first = (count, text) => (text.length <= count ? text : [...text.slice(0, 2 * count)].slice(0, count).join(""));
export const last = (count, text) => (text.length <= count ? text : [...text.slice(-2 * count)].slice(-count).join(""));

// ---- traceback.py

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
const PATH_BEGINS = /^ {0,40}(?:\/|~|[A-Za-z]:[\/\\])[^":]{10,400}$/u;
const PATH_ENDS = /^ {1,40}[^ :]{1,400}:[0-9]{1,7} in(?: .{1,200})?$/u;
const NAME = /^ {1,40}[\w.<>]{1,200}$/u;
const NUMBERED = /^ {0,40}(?<arrow>(?:-{1,8}>|\u2771) {0,8})?(?<line>[0-9]{1,7}) (?<code>.{1,400})$/u;
const MARKED = /^>(?<code> {2,200}[^ ].{0,400})$/u;
const CARETS = /^[ ~^]{1,400}$/u;
const ERROR = /^(?:[\w.]{0,200}(?:Error|Exception|Warning|Interrupt|Exit)\b|Traceback |During |The above )/u;
const ANOTHER = /Traceback \(most recent call last\)|During handling of the above|The above exception was/u;
const LIBRARY = new RegExp(
  String.raw`(?:site|dist)-packages/|/lib(?:64)?/python[0-9]|/Lib/` +
    String.raw`|(?:[Pp]ython|conda)[^/]{0,20}/(?:envs/[^/]{1,80}/)?lib/|^<(?:frozen|string|__array)` +
    String.raw`|(?:^|/)torch/(?:nn|utils|optim|autograd|cuda|distributed|_[a-z]\w{0,40})(?:/|\.py)` +
    String.raw`|(?:^|/)torch/(?:functional|serialization|storage|_?tensor)\.py$`,
  "u",
);

const inLibrary = (frame) => LIBRARY.test(frame.file);

/** The frames in the lines before a message and after it, up to the next traceback; else any after it. */
function frames(before, after) {
  const other = after.findIndex((line) => ANOTHER.test(line));
  const found = framesIn([...before, ...(other < 0 ? after : after.slice(0, other))]);
  return found.length ? found : framesIn(after);
}

function framesIn(lines) {
  const found = [];
  let code = []; // of the last frame; in pytest's long form, of the next
  let margin = null; // what stands before that code; null if its lines are numbered
  let number = 0; // of its last line
  let path = ""; // the part of a file's path that stood in the line before
  for (const written of lines) {
    let line = written.trimEnd(), text;
    if (path && PATH_ENDS.test(line)) line = path + line.trim();
    path = "";
    const form = FORMS.find((form) => form.test(line))?.exec(line).groups;
    const numbered = NUMBERED.exec(line)?.groups, marked = MARKED.exec(line)?.groups;
    const frame = found.at(-1);
    if (form) {
      if (!("shown" in form)) code = [];
      margin = form.margin ?? null;
      found.push({
        file: form.file.trim().replaceAll("\\", "/"),
        line: Number(form.line ?? 0),
        function: (form.function ?? "").split("(")[0].trim(),
        code: dedented(code),
      });
    } else if (numbered && frame && margin === null) {
      const begins = !code.length && (numbered.arrow || Number(numbered.line) === frame.line);
      if (begins || (open(code) && Number(numbered.line) === number + 1)) {
        number = Number(numbered.line);
        code.push(numbered.code);
        Object.assign(frame, { line: frame.line || number, code: dedented(code) });
      }
    } else if (marked) {
      [code, margin] = [[` ${marked.code}`], null];
    } else if (margin !== null && (text = beyond(margin, line)) && !CARETS.test(text)) {
      if (!code.length || open(code)) {
        code.push(first(400, text));
        frame.code = dedented(code);
      } else margin = null;
    } else if (margin === null && open(code) && line.startsWith("    ") && !CARETS.test(line)) {
      code.push(first(400, line));
    } else if (NAME.test(line) && frame && !frame.function && !frame.code) {
      frame.function = line.trim();
    } else if (PATH_BEGINS.test(line)) {
      path = line.trim();
    }
  }
  return found;
}

/** What a line shows right of `margin`, or "" if it cannot be the code of a frame that stood behind it. */
function beyond(margin, line) {
  const indent = indentOf(line);
  // Without any indents, as where a web page lost them, only an error's own line tells itself from code.
  if (!margin.trim()) return indent > margin.length || !(margin || ERROR.test(line)) ? line : "";
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

// ---- match.py, read.py

const LINES_BEFORE = 200, LINES_AFTER = 60, LINE = 2_000; // around the message, in lines and characters a line
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
  const better = longer && (!found || (longer.message !== found.message && holds(longer, found)));
  if (better) return reading(window, pieces, "", longer);
  return found ? reading(window, pieces, " ", found) : lastOther(other, joined);
}

const holds = (longer, shorter) => longer.match[0].replaceAll(" ", "").includes(shorter.match[0].replaceAll(" ", ""));

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
  const found = frames(left, right);
  const trace = `\n${[...left, ...right].map(squeezed).join("\n")}\n`.replaceAll("\\", "/");
  const shown = found.filter((frame) => frame.code);
  const place = shown.findLast((frame) => !inLibrary(frame)) ?? shown.at(-1) ?? null;
  return { message, reads: readsOf(match), frames: found, trace, place };
}

function readsOf(match) {
  const reads = Object.fromEntries(Object.entries(match.groups ?? {}).filter(([, value]) => value));
  if (reads.method && !reads.op) reads.op = reads.method.replace(METHOD, "").replace(/^_+|_+$/gu, "");
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

// ---- rank.py

const SHOWN = 5;

/** The causes that the message can have, likeliest first, at most five; a case in place of its wider cause. */
function rank(catalog, { message, reads, frames, trace, place }) {
  const points = new Map(), because = new Map();
  const speaks = (cause, weight, reason) => {
    points.set(cause, points.get(cause) + weight);
    if (reason && weight > 0) because.get(cause).push([weight, reason]);
  };
  for (const possible of message.causes) {
    if (!points.has(possible.id)) {
      points.set(possible.id, 0);
      because.set(possible.id, []);
    }
    const matches = ([name, want]) => new RegExp(`^(?:${want})$`, "u").test(reads[name] ?? "");
    if (Object.entries(possible.when).every(matches))
      speaks(possible.id, possible.points, filled(possible.because, reads));
  }
  const code = frames.filter((frame) => !inLibrary(frame)).map((frame) => frame.code).join("\n");
  const texts = { trace, code, line: place?.code ?? "" };
  for (const { clue, pattern } of compiled(catalog).clues) {
    const concerned = Object.entries(clue.causes).filter(([cause]) => points.has(cause));
    const meant = concerned.length && (!clue.messages.length || clue.messages.includes(message.id));
    if (meant && pattern.test(texts[clue.where]))
      for (const [cause, weight] of concerned) speaks(cause, weight, filled(clue.because, reads));
  }
  const widest = (cause) => catalog.causes[cause].within || cause;
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
      return { id, because: [...new Set(reasons.map(([, reason]) => reason))] };
    });
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
    const clues = catalog.clues.map((clue) => ({ clue, pattern: new RegExp(clue.pattern, "u") }));
    catalogs.set(catalog, { messages, glued, other, clues });
  }
  return catalogs.get(catalog);
}
