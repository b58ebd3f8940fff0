// Python's grammar of expressions. A node has the type and the fields that it has in Python's module `ast`, and its
// place in the text. A constant has its kind, and its value only if it is a text.

import { refuseIf, tokensOf } from "./tokens.js";

const STOPS = [")", "]", "}", "=", ":", "in", ";", "\n", ""]; // what may stand behind a comma that nothing follows
export const BINARY = {
  "|": [1, "BitOr"], "^": [2, "BitXor"], "&": [3, "BitAnd"], "<<": [4, "LShift"], ">>": [4, "RShift"],
  "+": [5, "Add"], "-": [5, "Sub"], "*": [6, "Mult"], "/": [6, "Div"], "//": [6, "FloorDiv"], "%": [6, "Mod"],
  "@": [6, "MatMult"], "**": [8, "Pow"], // which binds tighter than a sign before an expression
};
const UNARY = { "+": "UAdd", "-": "USub", "~": "Invert" };
const COMPARED = {
  "==": "Eq", "!=": "NotEq", "<": "Lt", "<=": "LtE", ">": "Gt", ">=": "GtE",
  in: "In", "not in": "NotIn", is: "Is", "is not": "IsNot",
};
// Names, those with a default (d), `*name` (a) and `**name` (k), as a lambda may have them.
const PARAMETERS = /^(?!\/)n*(?:\/n*d*|d*(?:\/d*)?)(?:a[nd]*|\*[nd]+)?k?$/u;

export const isSingle = ({ type }) => ["Name", "Attribute", "Subscript"].includes(type);
export const isSeveral = ({ type }) => ["Tuple", "List"].includes(type);
const isTarget = (node) =>
  isSingle(node) ||
  (isSeveral(node) && node.elts.every(isTarget)) ||
  (node.type === "Starred" && node.value.type !== "Starred" && isTarget(node.value));

export function target(node) {
  refuseIf(!isTarget(node));
  return node;
}

/** Reads the tokens from left to right. Each method reads one thing of the grammar, or refuses the text. */
export class Expressions {
  /** The code begins at character `shift` of the text. */
  constructor(code, shift) {
    this.tokens = tokensOf(code);
    this.at = 0;
    // Python counts characters, and JavaScript halves of those beyond 16 bits.
    this.places = [...`${code} `].flatMap((character, index) => Array(character.length).fill(index + shift));
  }

  get sign() {
    return this.tokens[this.at].sign;
  }

  get start() {
    return this.tokens[this.at].start;
  }

  skip(sign) {
    const isThere = this.sign === sign;
    this.at += isThere;
    return isThere;
  }

  expect(sign) {
    refuseIf(!this.skip(sign));
  }

  name() {
    const { name } = this.tokens[this.at];
    refuseIf(name === undefined);
    this.at += 1;
    return name;
  }

  isNameBefore(sign) {
    return this.tokens[this.at].name !== undefined && this.tokens[this.at + 1].sign === sign;
  }

  isFor() {
    return this.sign === "for" || (this.sign === "async" && this.tokens[this.at + 1].sign === "for");
  }

  isStop() {
    return STOPS.includes(this.sign);
  }

  /** A node that ends with the last token. */
  node(type, start, fields) {
    return { type, start: this.places[start], end: this.places[this.tokens[this.at - 1].end], ...fields };
  }

  yieldOrSeveral() {
    const { start } = this;
    if (!this.skip("yield")) return this.several();
    if (this.skip("from")) return this.node("YieldFrom", start, { value: this.expression() });
    const value = this.isStop() ? null : this.several();
    return this.node("Yield", start, { value });
  }

  /** An expression, or a tuple without brackets. */
  several(item = () => this.expression()) {
    const { start } = this, elts = [this.starred(item)];
    if (this.sign !== ",") return elts[0];
    while (this.skip(",") && !this.isStop()) elts.push(this.starred(item));
    return this.node("Tuple", start, { elts });
  }

  starred(item, value = () => this.binary()) {
    const { start } = this;
    return this.skip("*") ? this.node("Starred", start, { value: value() }) : item();
  }

  named() {
    const { start } = this;
    if (!this.isNameBefore(":=")) return this.expression();
    const name = this.atom();
    this.at += 1;
    return this.node("NamedExpr", start, { target: name, value: this.expression() });
  }

  expression() {
    const { start } = this;
    if (this.skip("lambda")) {
      const args = this.parameters();
      this.expect(":");
      return this.node("Lambda", start, { args, body: this.expression() });
    }
    const body = this.disjunction();
    if (!this.skip("if")) return body;
    const test = this.disjunction();
    this.expect("else");
    return this.node("IfExp", start, { test, body, orelse: this.expression() });
  }

  /** The parameters of a lambda: their names, and their defaults. */
  parameters() {
    const kw_defaults = [], defaults = [], names = [];
    let kinds = "";
    const name = () => names.push(this.name());
    do {
      if (this.sign === ":") break;
      if (this.skip("/")) kinds += "/";
      else if (this.skip("**")) kinds += name() && "k";
      else if (this.skip("*")) kinds += this.sign === "," ? "*" : name() && "a";
      else {
        name();
        const hasDefault = this.skip("=");
        if (hasDefault) (/[*a]/u.test(kinds) ? kw_defaults : defaults).push(this.expression());
        kinds += hasDefault ? "d" : "n";
      }
    } while (this.skip(","));
    refuseIf(!PARAMETERS.test(kinds));
    return { type: "arguments", names, kw_defaults, defaults };
  }

  disjunction() {
    return this.joined("or", "Or", () => this.joined("and", "And", () => this.comparison()));
  }

  joined(sign, op, operand) {
    const { start } = this, values = [operand()];
    while (this.skip(sign)) values.push(operand());
    return values.length === 1 ? values[0] : this.node("BoolOp", start, { op, values });
  }

  comparison() {
    const { start } = this;
    if (this.skip("not")) return this.node("UnaryOp", start, { op: "Not", operand: this.comparison() });
    const left = this.binary(), ops = [], comparators = [];
    for (let op = this.comparing(); op; op = this.comparing()) {
      ops.push(op);
      comparators.push(this.binary());
    }
    return ops.length ? this.node("Compare", start, { left, ops, comparators }) : left;
  }

  comparing() {
    let { sign } = this;
    if (sign === "not" || sign in COMPARED) this.at += 1;
    if (sign === "not") this.expect("in");
    if (sign === "not") sign = "not in";
    if (sign === "is" && this.skip("not")) sign = "is not";
    return COMPARED[sign];
  }

  /** An expression whose operators bind as tight as `least` or tighter. */
  binary(least = 1) {
    const { start } = this;
    for (let left = this.factor(); ; ) {
      const [binding, op] = BINARY[this.sign] ?? [0];
      if (binding < least) return left;
      this.at += 1;
      left = this.node("BinOp", start, { left, op, right: this.binary(binding + 1) });
    }
  }

  factor() {
    const { start } = this, op = UNARY[this.sign];
    if (op) {
      this.at += 1;
      return this.node("UnaryOp", start, { op, operand: this.factor() });
    }
    const left = this.skip("await") ? this.node("Await", start, { value: this.primary() }) : this.primary();
    return this.skip("**") ? this.node("BinOp", start, { left, op: "Pow", right: this.factor() }) : left;
  }

  /** An atom, and the attributes, calls and subscripts that follow it. */
  primary() {
    const { start } = this;
    for (let value = this.atom(); ; )
      if (this.skip(".")) value = this.node("Attribute", start, { value, attr: this.name() });
      else if (this.sign === "(") value = this.node("Call", start, { func: value, ...this.arguments() });
      else if (this.skip("[")) value = this.node("Subscript", start, { value, slice: this.slices() });
      else return value;
  }

  arguments() {
    const { start } = this, args = [], keywords = [];
    let isDouble = false;
    this.at += 1;
    while (this.sign !== ")") {
      if (this.skip("**")) {
        isDouble = true;
        keywords.push({ type: "keyword", arg: null, value: this.expression() });
      } else if (this.isNameBefore("=")) {
        const arg = this.name();
        this.at += 1;
        keywords.push({ type: "keyword", arg, value: this.expression() });
      } else {
        refuseIf(this.sign === "*" ? isDouble : keywords.length);
        const elt = this.starred(() => this.named(), () => this.expression());
        if (!args.length && !keywords.length && this.isFor())
          return { args: [this.comprehension(")", "GeneratorExp", start, elt)], keywords };
        args.push(elt);
      }
      if (!this.skip(",")) break;
    }
    this.expect(")");
    return { args, keywords };
  }

  slices() {
    const { start } = this, elts = [];
    let isTuple = this.sign === "*";
    do elts.push(this.starred(() => this.slice(), () => this.expression()));
    while (this.skip(",") && (isTuple = true) && this.sign !== "]");
    const slice = isTuple ? this.node("Tuple", start, { elts }) : elts[0];
    this.expect("]");
    return slice;
  }

  slice() {
    const { start } = this, part = () => ([":", ",", "]"].includes(this.sign) ? null : this.expression());
    if (this.isNameBefore(":=")) return this.named();
    const lower = this.sign === ":" ? null : this.expression();
    if (!this.skip(":")) return lower;
    const upper = part(), step = this.skip(":") ? part() : null;
    return this.node("Slice", start, { lower, upper, step });
  }

  atom() {
    const { name, text, number, sign, start } = this.tokens[this.at];
    if (text) return this.texts();
    this.at += 1;
    if (name) return this.node("Name", start, { id: name });
    if (number) return this.node("Constant", start, { kind: "number" });
    if (sign === "(") return this.brackets(")", "Tuple", "GeneratorExp", start);
    if (sign === "[") return this.brackets("]", "List", "ListComp", start);
    if (sign === "{") return this.braces(start);
    refuseIf(!["True", "False", "None", "..."].includes(sign));
    return this.node("Constant", start, { kind: sign === "..." ? "Ellipsis" : sign });
  }

  texts() {
    const { start } = this, parts = [];
    for (; this.tokens[this.at].text; this.at += 1) parts.push(this.tokens[this.at].text);
    const has = (letter) => parts.filter(({ prefix }) => prefix.includes(letter)).length;
    refuseIf(has("b") && has("b") < parts.length);
    if (has("f")) return this.node("JoinedStr", start, {});
    const value = parts.map((part) => part.value).join("");
    return this.node("Constant", start, { kind: has("b") ? "bytes" : "str", value });
  }

  /** What is in brackets, of which the first expression may have been read: it alone, several, or a comprehension. */
  brackets(closing, type, comprehension, start, first = null) {
    const elts = [];
    let isOne = closing === ")";
    if (isOne && this.sign === "yield") {
      const value = this.yieldOrSeveral();
      this.expect(")");
      return value;
    }
    while (first || this.sign !== closing) {
      const elt = first ?? this.starred(() => this.named());
      first = null;
      if (!elts.length && this.isFor()) return this.comprehension(closing, comprehension, start, elt);
      elts.push(elt);
      if (!this.skip(",")) break;
      isOne = false;
    }
    this.expect(closing);
    if (!isOne || !elts.length) return this.node(type, start, { elts });
    refuseIf(elts[0].type === "Starred");
    return elts[0];
  }

  /** A dictionary or a set. */
  braces(start) {
    const keys = [], values = [];
    if (this.sign === "*" || this.isNameBefore(":=")) return this.brackets("}", "Set", "SetComp", start);
    while (this.sign !== "}") {
      const key = this.skip("**") ? null : this.expression();
      if (key && !keys.length && this.sign !== ":") return this.brackets("}", "Set", "SetComp", start, key);
      if (key) this.expect(":");
      const value = key ? this.expression() : this.binary();
      if (key && !keys.length && this.isFor()) {
        const generators = this.generators("}");
        return this.node("DictComp", start, { key, value, generators });
      }
      keys.push(key);
      values.push(value);
      if (!this.skip(",")) break;
    }
    this.expect("}");
    return this.node("Dict", start, { keys, values });
  }

  comprehension(closing, type, start, elt) {
    refuseIf(elt.type === "Starred");
    const generators = this.generators(closing);
    return this.node(type, start, { elt, generators });
  }

  generators(closing) {
    const generators = [];
    while (this.isFor()) {
      this.skip("async");
      this.at += 1;
      const fields = this.forIn(() => this.disjunction()), ifs = [];
      while (this.skip("if")) ifs.push(this.disjunction());
      generators.push({ type: "comprehension", ...fields, ifs });
    }
    this.expect(closing);
    return generators;
  }

  forIn(iterated) {
    const names = target(this.several(() => this.binary()));
    this.expect("in");
    return { target: names, iter: iterated() };
  }
}
