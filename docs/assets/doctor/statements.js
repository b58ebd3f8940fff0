// Python's grammar of statements, as far as a line of code that fails in PyTorch needs it: none that defines or imports
// something, and no block on lines of its own.

import { BINARY, Expressions, isSeveral, isSingle, target } from "./grammar.js";
import { HEADS, refuseIf, unlessRefused } from "./tokens.js";

const isDeletable = (node) => isSingle(node) || (isSeveral(node) && node.elts.every(isDeletable));

export class Statements extends Expressions {
  line() {
    const body = HEADS.includes(this.sign) ? [this.compound()] : this.simples();
    while (this.skip("\n"));
    this.expect("");
    return body;
  }

  compound() {
    const prefix = this.skip("async") ? "Async" : "";
    let fields;
    if (this.skip("for")) fields = { type: `${prefix}For`, ...this.forIn(() => this.several()) };
    else if (this.skip("with")) fields = { type: `${prefix}With`, items: this.contexts() };
    else {
      refuseIf(prefix);
      fields = { type: this.skip("if") ? "If" : this.skip("while") && "While", test: this.named() };
    }
    this.expect(":");
    return { ...fields, body: this.simples() };
  }

  contexts() {
    const { at } = this;
    const inBrackets = () => {
      this.expect("(");
      const items = this.contextItems();
      this.expect(")");
      refuseIf(this.sign !== ":");
      return items;
    };
    const items = unlessRefused(inBrackets);
    if (items) return items;
    this.at = at; // brackets, if there are any, are the first expression's
    return this.contextItems();
  }

  contextItems() {
    const items = [];
    do {
      const context_expr = this.expression();
      const optional_vars = this.skip("as") ? target(this.starred(() => this.binary())) : null;
      items.push({ type: "withitem", context_expr, optional_vars });
    } while (this.skip(",") && this.sign !== ")");
    return items;
  }

  simples() {
    const body = [];
    do {
      refuseIf(this.at && this.tokens[this.at].isFirst); // a statement on a line of its own
      body.push(this.simple());
    } while (this.skip(";") && !this.isStop());
    return body;
  }

  simple() {
    if (this.skip("pass")) return { type: "Pass" };
    if (this.skip("break")) return { type: "Break" };
    if (this.skip("continue")) return { type: "Continue" };
    if (this.skip("return")) return { type: "Return", value: this.isStop() ? null : this.several() };
    if (this.skip("raise")) {
      const exc = this.isStop() ? null : this.expression();
      return { type: "Raise", exc, cause: exc && this.skip("from") ? this.expression() : null };
    }
    if (this.skip("assert"))
      return { type: "Assert", test: this.expression(), msg: this.skip(",") ? this.expression() : null };
    if (this.skip("del")) {
      const targets = [];
      do targets.push(this.primary());
      while (this.skip(",") && !this.isStop());
      refuseIf(!targets.every(isDeletable));
      return { type: "Delete", targets };
    }
    return this.assignment();
  }

  assignment() {
    const { start } = this, values = [this.yieldOrSeveral()], [value] = values, sign = this.sign ?? "";
    const op = sign.endsWith("=") && BINARY[sign.slice(0, -1)]?.[1];
    if (op || sign === ":") {
      refuseIf(!isSingle(value));
      this.at += 1;
      if (op) {
        const right = this.yieldOrSeveral();
        return this.node("AugAssign", start, { target: value, op, value: right });
      }
      const annotation = this.expression();
      return { type: "AnnAssign", target: value, annotation, value: this.skip("=") ? this.yieldOrSeveral() : null };
    }
    while (this.skip("=")) values.push(this.yieldOrSeveral());
    if (values.length === 1) return { type: "Expr", value };
    return this.node("Assign", start, { targets: values.slice(0, -1).map(target), value: values.at(-1) });
  }
}
