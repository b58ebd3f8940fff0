// A small reader of Python expressions, for the line of code that a traceback shows: what
// samedevice/doctor/text/expressions.py is in Python. Whatever it is given, it returns something.

import { first } from "./normalise.js";

const LONGEST = 2_000; // characters that are read
const DEEPEST = 40; // brackets within brackets
const MOST = 300; // operators, attributes, calls and subscripts, each of which may go one deeper
// A text, a name, a number, a comment or a sign.
const TOKEN = new RegExp(
  String.raw`[rbufRBUF]{0,2}(?:"""|'''|"(?:[^"\\\n]|\\.){0,500}(?:"|$)|'(?:[^'\\\n]|\\.){0,500}(?:'|$))` +
    String.raw`|[A-Za-z_]\w*|\.?[0-9][\w.]*|#[^\n]*` +
    String.raw`|(?:\*\*|\/\/|>>|<<|[\-+*\/%@&\|\^])=|->|:=|==|!=|<=|>=|\*\*|\/\/|<<|>>|\.\.\.` +
    String.raw`|[\-+*\/%@&\|\^~<>=,.:;\(\)\[\]\{\}]`,
  "gu",
);
const TEXT = /["']/u, NAME = /^[A-Za-z_]/u, NUMBER = /^\.?[0-9]/u;
const BINDING = new Map(
  Object.entries({
    or: 1, and: 2, in: 4, not: 4, is: 4, "==": 4, "!=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4,
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "@": 10, "**": 12,
  }),
);
const UNARY = 11; // binds tighter than `*`, looser than `**`
const CLOSING = new Map([["(", ")"], ["[", "]"], ["{", "}"]]);
const CLOSINGS = [")", "]", "}"];
const BEFORE_AN_EXPRESSION = "return yield await assert raise if elif while del with from".split(" ");
const NO_VALUE = ["for", "if", "else", "async", "as", "lambda"]; // names that no expression begins with
const SIGNS_BEFORE = ["-", "+", "~", "not", "*", "**", "await"];

const newNode = (kind, start, end, name = "", parts = [], keywords = []) => {
  return { kind, start, end, name, parts, keywords };
};

/** An expression and all in it, the outermost first. */
export function* walk(node) {
  const left = [node];
  while (left.length) {
    const next = left.pop();
    yield next;
    left.push(...[...next.parts].reverse());
  }
}

/** A line of code, or the lines of one statement, as `targets` `sign` `value`: "=", "+=", "in" of a loop, or "". */
export function readStatement(text) {
  if (!statements.has(text)) {
    if (statements.size >= 64) statements.clear();
    statements.set(text, new Reader(first(LONGEST, text)).statement());
  }
  return statements.get(text);
}

const statements = new Map(); // the lines of a paste are asked for more than once

export const textOf = (statement, node) => statement.text.slice(node.start, node.end);

class Reader {
  constructor(text) {
    this.text = text;
    this.tokens = [];
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      if (token[0] === "#") continue;
      const kind = TEXT.test(token) ? "text" : NAME.test(token) ? "name" : NUMBER.test(token) ? "number" : "sign";
      this.tokens.push([kind, token, index]);
    }
    this.at = this.depth = this.made = 0;
  }

  statement() {
    const isLoop = this.skip("for");
    while (!isLoop && BEFORE_AN_EXPRESSION.includes(this.sign())) this.at += 1;
    let targets = [], value = this.items(isLoop ? ["in"] : []), sign = "";
    const assigns = (token) => token === "=" || (token.endsWith("=") && BINDING.has(token.slice(0, -1)) && !sign);
    while (assigns(this.sign())) {
      sign = this.sign();
      this.at += 1;
      targets.push(value);
      value = this.items();
    }
    if (this.sign() === ":" && !isLoop) {
      this.at += 1; // `x: Tensor = ...`
      const annotation = this.items();
      if (this.sign() === "=" && annotation.end > annotation.start) {
        this.at += 1;
        [targets, sign, value] = [[value], "=", this.items()];
      }
    }
    if (isLoop && this.skip("in")) [targets, sign, value] = [[value], "in", this.items()];
    return { text: this.text, targets, sign, value };
  }

  /** Expressions between commas; more than one are a group. */
  items(stop = []) {
    const start = this.start(), items = [this.expression(0, stop)];
    while (this.skip(",")) {
      if (!this.kind() || ["=", ":", ...CLOSINGS, ...stop].includes(this.sign())) break;
      items.push(this.expression(0, stop));
    }
    return items.length === 1 ? items[0] : newNode("group", start, items.at(-1).end, "", items);
  }

  expression(binding, stop = []) {
    this.depth += 1;
    let node = this.operand(stop);
    while (this.goesOn()) {
      const sign = this.sign();
      if (stop.includes(sign) || (BINDING.get(sign) ?? 0) <= binding) break;
      this.at += 1;
      this.made += 1;
      if (["not in", "is not"].includes(`${sign} ${this.sign()}`)) this.at += 1;
      const right = this.expression(BINDING.get(sign) - (sign === "**"), stop);
      node = newNode("operator", node.start, right.end, sign, [node, right]);
    }
    if (!binding && this.sign() === "if" && this.kind() === "name" && this.depth < DEEPEST) {
      this.at += 1;
      const parts = [node, this.expression(0)];
      if (this.skip("else")) parts.push(this.expression(0));
      node = newNode("other", node.start, parts.at(-1).end, "if", parts);
    }
    this.depth -= 1;
    return node;
  }

  operand(stop) {
    const start = this.start(), [kind, text] = this.tokens[this.at] ?? ["", ""];
    if (this.depth > DEEPEST) return newNode("other", start, start);
    if (SIGNS_BEFORE.includes(text)) {
      this.at += 1;
      const part = this.expression(text === "not" ? 3 : UNARY, stop);
      return newNode("unary", start, part.end, text, [part]);
    }
    if (kind === "name" && !NO_VALUE.includes(text) && !stop.includes(text)) {
      this.at += 1;
      const isLiteral = ["None", "True", "False"].includes(text);
      return this.rest(newNode(isLiteral ? "literal" : "name", start, this.end(), text));
    }
    if (kind === "text" || kind === "number" || text === "...") {
      this.at += 1;
      while (this.kind() === "text") this.at += 1; // "a" "b"
      return this.rest(newNode("literal", start, this.end(), text));
    }
    if (CLOSING.has(text)) {
      const [items, name] = this.brackets(CLOSING.get(text));
      const inner = text === "(" && items.length === 1 && !name ? items[0] : null;
      if (inner && this.text.slice(inner.end, this.end()).trim() === ")") return this.rest({ ...inner }, start);
      return this.rest(newNode("group", start, this.end(), name, items));
    }
    if (text === "lambda") {
      while (this.kind() && ![":", ...CLOSINGS].includes(this.sign())) this.at += 1;
      if (this.skip(":")) {
        const body = this.expression(0, stop);
        return newNode("other", start, body.end, "lambda", [body]);
      }
    }
    return newNode("other", start, start);
  }

  /** The attributes, calls and subscripts that follow an expression. */
  rest(node, start = null) {
    const begin = start ?? node.start;
    let isBracketed = start !== null;
    while (this.goesOn()) {
      const sign = this.sign();
      if (sign === "." && this.kind(1) === "name") {
        this.at += 2;
        node = newNode("attribute", begin, this.end(), this.tokens[this.at - 1][1], [node]);
      } else if (sign === "(") {
        const [items, keywords] = this.arguments();
        node = newNode("call", begin, this.end(), "", [node, ...items], keywords);
      } else if (sign === "[") {
        const [items] = this.brackets("]");
        node = newNode("subscript", begin, this.end(), "", [node, ...items]);
      } else break;
      this.made += 1;
      isBracketed = false;
    }
    // Brackets round the whole belong to it: `(a + b)`.
    return isBracketed ? { ...node, start: begin, end: this.end() } : node;
  }

  arguments() {
    const items = [], keywords = [];
    this.at += 1;
    this.depth += 1;
    while (this.kind() && !this.skip(")") && this.depth < DEEPEST) {
      const begin = this.at;
      let keyword = "";
      if (this.kind() === "name" && this.sign(1) === "=") {
        keyword = this.sign();
        this.at += 2;
      }
      items.push(this.expression(0));
      keywords.push(keyword);
      this.skipAComprehension(")");
      this.skip(",");
      this.at += this.at === begin; // what cannot be read is left out
    }
    this.depth -= 1;
    return [items, keywords];
  }

  /** What is in brackets: the items, and "for" where it is a comprehension. */
  brackets(closing) {
    const items = [];
    let name = "";
    this.at += 1;
    this.depth += 1;
    while (this.kind() && !this.skip(closing) && this.depth < DEEPEST) {
      const begin = this.at;
      if (![",", ":"].includes(this.sign())) items.push(this.expression(0));
      if (this.skipAComprehension(closing)) name = "for";
      while ([",", ":", ":=", "="].includes(this.sign())) this.at += 1;
      this.at += this.at === begin;
    }
    this.depth -= 1;
    return [items, name];
  }

  skipAComprehension(closing) {
    if (!["for", "async"].includes(this.sign()) || this.kind() !== "name") return false;
    for (let depth = 0; this.kind(); this.at += 1) {
      const sign = this.sign();
      if (depth === 0 && sign === closing) break;
      depth += CLOSING.has(sign) - CLOSINGS.includes(sign);
    }
    return true;
  }

  /** Whether the expression may become larger. */
  goesOn() {
    return this.depth < DEEPEST && this.made < MOST;
  }

  kind(ahead = 0) {
    return this.tokens[this.at + ahead]?.[0] ?? "";
  }

  /** The token, unless it is a text or a number. */
  sign(ahead = 0) {
    return ["sign", "name"].includes(this.kind(ahead)) ? this.tokens[this.at + ahead][1] : "";
  }

  skip(sign) {
    const isThere = this.sign() === sign;
    this.at += isThere;
    return isThere;
  }

  start() {
    return this.tokens[this.at]?.[2] ?? this.text.length;
  }

  end() {
    const [, text, start] = this.tokens[this.at - 1];
    return start + text.length;
  }
}
