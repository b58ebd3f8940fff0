// From whatever a person pastes to text that patterns can be matched against: what
// samedevice/doctor/text/normalise.py is in Python, by the same steps.

export const WINDOW = 200_000; // characters that are read: the last ones, for an error stands at the end

const LINE_END = /\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]/gu;
const COLOUR = /\x1b\[[0-9;:?]{0,40}[@-~]|\x1b\][^\x07\x1b\n]{0,1000}(?:\x07|\x1b\\)/gu;
const COLOUR_WRITTEN = /\[(?:[0-9]{1,3};){0,8}[0-9]{1,3}m/gu;
const ESCAPES_WRITTEN = ["\\u001b[", "\\x1b[", "\\033[", "^[[", "\u241b["];
const CONTROL = /[\x00-\x08\x0e-\x1f\x7f-\x9f]/gu;
const LONE_SURROGATE = /\p{Surrogate}/gu;
const BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2500-\u259f]/gu;
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu;
// They change the order in which signs are shown: what is read from a paste shows them written out.
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const BIDI_WRITTEN = /\\u(?:061c|200[ef]|202[a-e]|206[6-9])/gu;
const SIGNS = "\u2018\u2019\u201c\u201d\uff07\uff02\uff0c\uff1a\uff08\uff09\uff01", PLAIN = "''\"\"'\",:()!";
const SIGN = new RegExp(`[${SIGNS}]`, "gu");
const ENTITIES = { "&#39;": "'", "&#x27;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&amp;": "&" };
const LINE_END_WRITTEN = /\\n(?=  File |Traceback|    |[A-Z]\w{2,40}(?:Error|Exception)\b)/gu;
const STRING = /^ {0,40}"(.*)",?$/gmu; // of a notebook's traceback in JSON
const ESCAPED = /\\([nt"\\])/gu, UNESCAPED = { n: "\n", t: "    ", '"': '"', "\\": "\\" };
const NOTEBOOK_LINK = /<a href='vscode-[^'>\n]{1,1000}'>([0-9]{1,7})<\/a>/gu;
const COLAB_LINK = /\[([^\[\]\n]{1,400})\]\(https?:\/\/localhost[^\(\)\n]{0,100}\)/gu;
const PREFIX = new RegExp(
  String.raw`^ {0,200}(?:(?:\[(?:rank|default)[0-9]{1,5}\]:|\[[0-9]{1,5},[0-9]{1,5}\]<std(?:err|out)>:` +
    String.raw`|\([\w:.\-]{1,80} pid=[0-9]{1,9}(?:, ip=[0-9.]{1,20})?\)|[>|]) ?)+`,
  "gmu",
);
const RANKS = /^\[(?:rank|default)[0-9]{1,5}\]:.*(?:\n\[(?:rank|default)[0-9]{1,5}\]:.*)+/gmu;
const PYTEST = /^E(?: {3,40}|$)/gmu;
const SUMMARY = /^(?:FAILED|ERROR) [^\n]{1,400}::[^\n]{1,400} - [^\n]{0,400}$/gmu;

/** `text` in its lines, without colours, boxes, prefixes and typographic quotes; its only blank is the space. */
export function clean(text) {
  text = text.replace(LINE_END, "\n").replaceAll("\t", "    ").replace(COLOUR, "").replace(CONTROL, " ");
  if (text.includes('"traceback": ['))
    text = text.replace(STRING, (_, line) => line.replace(ESCAPED, (_, sign) => UNESCAPED[sign]));
  if (text.search(COLOUR_WRITTEN) >= 0)
    text = ESCAPES_WRITTEN.reduce((rest, escape) => rest.replaceAll(escape, "["), text).replace(COLOUR_WRITTEN, "");
  text = text.replace(LONE_SURROGATE, "\ufffd").replace(BLANK, " ").replace(INVISIBLE, "");
  text = text.replace(SIGN, (sign) => PLAIN[SIGNS.indexOf(sign)]);
  text = text.replace(BIDI, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  for (const [entity, sign] of Object.entries(ENTITIES)) text = text.replaceAll(entity, sign);
  if (text.search(LINE_END_WRITTEN) >= 0) text = text.replace(LINE_END_WRITTEN, "\n").replaceAll('\\"', '"');
  text = text.replace(NOTEBOOK_LINK, "$1").replace(COLAB_LINK, "$1");
  const isOfPytest = text.includes("E   ") && text.search(PYTEST) >= 0;
  if (isOfPytest) return text.replace(SUMMARY, "").replace(PYTEST, "");
  return text.replace(RANKS, (lines) => byRank(lines.split("\n")).join("\n")).replace(PREFIX, "");
}

/** The lines of each rank together: ranks write into each other's. */
function byRank(lines) {
  const rank = (line) => line.slice(0, line.indexOf("]"));
  return lines.sort((one, other) => (rank(one) < rank(other) ? -1 : rank(one) > rank(other)));
}

export const lines = (cleaned) => cleaned.split("\n").filter((line) => line.trim());
export const squeezed = (line) => line.trim().replace(/ +/gu, " ");

/** The lines as patterns are matched against them. */
export function matched(window) {
  const hasWritten = window.some((line) => line.includes("\\u"));
  return window.map((line) => squeezed(hasWritten ? line.replace(BIDI_WRITTEN, "") : line));
}

// Python counts characters, and JavaScript halves of those beyond 16 bits.
export const first = (count, text) =>
  text.length <= count ? text : [...text.slice(0, 2 * count)].slice(0, count).join("");
export const last = (count, text) => (text.length <= count ? text : [...text.slice(-2 * count)].slice(-count).join(""));

// ---- typed.py

const TYPED = 300, LEAST = 5; // characters of a text that may be typed, in any capitals or in part; words of a part
// One of them stands in a part, or two devices: the other words of a message are those of many.
const TELLING =
  / (?:devices?|tensors?|weights?|indices|accelerators?|pinned|mapped|gradients?|forked|reduction|parameters) | x .* x | be on x /u;
const DEVICE = /\b(?:cuda|cpu|gpu|mps|xpu)\b/gu; // any is the same word

/** A short text in small letters, and its words, if they may be a part of a message: all, or all but those of a question. */
export function typed(text, asking) {
  if ([...text].length > TYPED) return ["", []];
  const small = text.replace(/[A-Z]/gu, (letter) => letter.toLowerCase());
  const words = (small.replace(DEVICE, "x").match(/[a-z]+/gu) ?? []).join(" ");
  const parts = [words, words.replace(new RegExp(asking, "gu"), "")];
  const isLong = (part) => part.split(" ").length >= LEAST;
  return [small, parts.filter(isLong).map((part) => ` ${part} `).filter((part) => TELLING.test(part))];
}
