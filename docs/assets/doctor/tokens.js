// The names, numbers, texts and signs of Python code: what a text that was cut lacks, and what the parser is given.
// samedevice/introspect/lines.py does the first in Python, and Python's own tokenizer the second.

const DEEPEST = 60; // brackets within brackets
const DIGITS = "[0-9](?:_?[0-9])*";
// The Python has the same expression. Quotation marks that are missing and `*?` before an end keep it linear.
const TOKEN = new RegExp(
  String.raw`(?<text>(?:[bB][rR]?|[rR][bBfF]?|[fF][rR]?|[uU])?(?:"""(?:[^\\]|\\.|\\$)*?(?:"""|$)` +
    String.raw`|'''(?:[^\\]|\\.|\\$)*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?))` +
    String.raw`|(?<name>[A-Za-z_\x80-\u{10ffff}][A-Za-z0-9_\x80-\u{10ffff}]*)|(?<comment>#[^\n]*)` +
    String.raw`|(?<number>0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+` +
    String.raw`|(?:${DIGITS}(?:\.(?:${DIGITS})?)?|\.${DIGITS})(?:[eE][\-+]?${DIGITS})?[jJ]?)` +
    String.raw`|(?<sign>(?:\*\*|\/\/|>>|<<|[\-+*\/%@&\|\^])=|->|:=|==|!=|<=|>=|\*\*|\/\/|<<|>>|\.\.\.` +
    String.raw`|[\-+*\/%@&\|\^~<>=,.:;\(\)\[\]\{\}])`,
  "gsu",
);
export const words = (text) => text.split(" ");
const KEYWORDS = words(
  "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield",
);
export const HEADS = words("for while if with async"); // a statement that another follows, which no traceback shows
const NO_END = words("and or not in is if else for lambda await async return yield from [");
const CLOSING = { "(": ")", "[": "]", "{": "}" };
const OPENING = { ")": "_(", "]": "[", "}": "{" }; // what is put before a text; a bracket like the first is a call's
const BLANK = /^(?:[ \t\f\n]|\\\n)*$/u, INDENT = /[ \t](?:\\\n)*$/u, CONTINUED = /\\\n[ \t\f]*$/u;
const NAME = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;
const NO_NUMBER = /^0[0-9_]*[1-9][0-9_]*$/u; // an integer that begins with 0
const NO_END_OF_NUMBER = /^(?!and|else|for|if|in|is|or|not)[\w\x80-\u{10ffff}]/u; // `1if x` can be read

const REFUSED = new SyntaxError("not a line of Python");

export function refuseIf(isWrong) {
  if (isWrong) throw REFUSED;
}

/** What `reading` returns, or null where something refused the text. */
export function unlessRefused(reading) {
  try {
    return reading();
  } catch (error) {
    if (error !== REFUSED) throw error;
    return null;
  }
}

/** What has to stand before a text that was cut, what of it can be read, and what has to follow. */
export function completed(text) {
  const tokens = [...text.matchAll(TOKEN)].filter(({ groups }) => groups.comment === undefined);
  const ahead = (count) => tokens.at(-count) ?? { groups: {} }, isBegun = ahead(1)[0] === ",";
  while (isNoEnd(ahead(1)))
    // The name of an argument goes with its sign.
    if (tokens.pop()[0] === "=" && ahead(1).groups.name && ["(", ","].includes(ahead(2)[0])) tokens.pop();
  if (!tokens.length) return ["", "", ""];
  const opened = [];
  let before = "";
  for (const [at, { groups: { sign } }] of tokens.entries())
    if (sign in CLOSING) opened.unshift(at);
    else if (sign in OPENING && opened.shift() === undefined) before = OPENING[sign] + before;
  const last = ahead(1), closing = opened.map((at) => CLOSING[tokens[at][0]]).join("");
  // `f((a, ` begins a tuple, and `f((a))` has none.
  const isATuple = isBegun && closing[0] === ")" && !isAnEnd(tokens[opened[0] - 1]);
  const after = missingQuotes(last.groups.text ?? "") + (isATuple ? "," : "") + closing;
  return [before, text.slice(0, last.index + last[0].length), after + (HEADS.includes(tokens[0][0]) ? ": pass" : "")];
}

/** Whether no expression ends with this, so that what follows it was cut off. */
function isNoEnd({ 0: token, groups: { sign } }) {
  return NO_END.includes(token) || (sign !== undefined && sign !== "..." && !(sign in CLOSING) && !(sign in OPENING));
}

/** Whether a bracket behind this is a call's, or an index. */
const isAnEnd = ({ 0: token, groups: { sign, text, name } } = { groups: {} }) =>
  sign in OPENING || text !== undefined || (name !== undefined && !NO_END.includes(token));

/** The quotation marks that end a text, unless it has them. */
function missingQuotes(text) {
  text = text.replace(/^\w+/u, "").replace(/\\./gsu, "__");
  const quotes = /^(?:"""|'''|.?)/u.exec(text)[0];
  return text.length >= 2 * quotes.length && text.endsWith(quotes) ? "" : quotes;
}

/**
 * The tokens without comments, each with a `name`, `number`, `text` or `sign`. A keyword is a sign, so is the end of a
 * line outside of brackets, and "" is the end.
 */
export function tokensOf(code) {
  const tokens = [];
  let end = 0, nesting = 0;
  refuseIf(/[\0\r\p{Surrogate}]/u.test(code));
  for (const match of code.matchAll(TOKEN)) {
    const start = match.index, gap = code.slice(end, start), { comment, sign } = match.groups;
    refuseIf(!BLANK.test(gap) || (!tokens.length && comment === undefined && INDENT.test(gap)));
    if (nesting <= 0 && tokens.length && endsALine(gap)) tokens.push({ sign: "\n" });
    end = start + match[0].length;
    nesting += (sign in CLOSING) - (sign in OPENING);
    refuseIf(nesting > DEEPEST);
    if (comment === undefined)
      tokens.push({ ...checked(match.groups, code.slice(end, end + 4)), start, end, isFirst: gap.includes("\n") });
  }
  const gap = code.slice(end);
  refuseIf(!BLANK.test(gap) || CONTINUED.test(gap));
  if (endsALine(gap)) tokens.push({ sign: "\n" });
  return [...tokens, { sign: "" }];
}

const endsALine = (gap) => gap.replaceAll("\\\n", "").includes("\n");

function checked({ name, number, text, sign }, next) {
  if (sign !== undefined || KEYWORDS.includes(name)) return { sign: sign ?? name };
  if (text !== undefined) return { text: contentOf(text) };
  refuseIf(name === undefined ? NO_NUMBER.test(number) || NO_END_OF_NUMBER.test(next) : !NAME.test(name));
  refuseIf(number === "0" && next[0] === "o"); // `0or x` is a wrong octal number
  return name === undefined ? { number } : { name: name.normalize("NFKC") };
}

/** What stands in a text, with underscores for escapes, and its prefix. */
function contentOf(text) {
  refuseIf(missingQuotes(text));
  const [, prefix, quotes] = /^(\w*)("""|'''|.)/u.exec(text);
  let value = text.slice(prefix.length + quotes.length, -quotes.length);
  value = value.replace(/\\[\\"']|\\(?!\n)/gu, (escape) => "_".repeat(escape.length));
  if (!/r/iu.test(prefix)) value = value.replaceAll("\\\n", "");
  refuseIf(/b/iu.test(prefix) && /[^\0-\x7f]/u.test(value));
  return { prefix: prefix.toLowerCase(), value };
}
