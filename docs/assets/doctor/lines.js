// A line of code that a text shows, read into the tree that Python's parser makes of it: what
// samedevice/introspect/lines.py is in Python. What Python's parser refuses is refused here too.

import { first } from "./normalise.js";
import { Statements } from "./statements.js";
import { completed, unlessRefused } from "./tokens.js";

const LONGEST = 2_000; // characters that are read
const DEEPEST = 60; // expressions within expressions

/**
 * A line of code, or the lines of one statement; null where it is none. It has its statements in `body`, and in
 * `stored` the expressions that it gives a value or deletes, which have another `ctx` in Python's tree. Its `counters` are
 * the names that its loops give numbers or texts, and `parts` what deciding.js found in it.
 */
export function readLine(text) {
  if (!lines.has(text)) {
    if (lines.size >= 64) lines.clear();
    lines.set(text, read(first(LONGEST, text)));
  }
  return lines.get(text);
}

const lines = new Map(); // the lines of a paste are asked for more than once

/** An expression as the text has it. */
export const textOf = (line, node) => line.characters.slice(Math.max(0, node.start), Math.max(0, node.end)).join("");

/** Whether all of an expression certainly stands in the text. */
export const isWhole = (line, node) => 0 <= node.start && node.start <= node.end && node.end <= line.end;

/** Nodes and all in them, in the order of Python's `ast.walk`: what is nearest first. */
export function* walk(...nodes) {
  for (const node of nodes) {
    yield node;
    nodes.push(...inner(node));
  }
}

/** Whether two nodes are the same code; numbers are told apart as they are written. */
export function isAlike(line, one, other) {
  if (!one?.type && !Array.isArray(one)) return one === other;
  if (one.type !== other?.type || line.stored.has(one) !== line.stored.has(other)) return false;
  if (one.kind === "number") return other.kind === "number" && textOf(line, one) === textOf(line, other);
  const names = Object.keys(one).filter((name) => !["start", "end"].includes(name)); // of a list they are its places
  return one.length === other.length && names.every((name) => isAlike(line, one[name], other[name]));
}

const stored = ({ targets = [], target, optional_vars }) => [...targets, target, optional_vars].flatMap(allOf);
const allOf = (node) =>
  node ? [node, ...(node.type === "Starred" ? [node.value] : (node.elts ?? [])).flatMap(allOf)] : [];

/** What of a loop's variables gets numbers or texts. */
function counted({ type, target, iter }) {
  if (!["For", "AsyncFor", "comprehension"].includes(type)) return [];
  const name = iter.type === "Call" && iter.func.id, isShown = ["Tuple", "List"].includes(iter.type);
  if (name === "range" || (isShown && iter.elts.every((one) => one.type === "Constant"))) return [target];
  return name === "enumerate" && target.type === "Tuple" ? target.elts.slice(0, 1) : [];
}

const inner = (node) => Object.values(node).flat().filter((value) => value?.type !== undefined);

function read(text) {
  const shift = text.startsWith("elif ") ? 2 : 0, shown = text.slice(shift);
  for (const [before, code, after] of [["", shown, ""], completed(shown)]) {
    const body = shift && before ? null : parsed(before + code + after, shift - before.length);
    // What was left out behind the code: nothing in it was cut, unless an attribute or an item follows it.
    const isCut = (after && code.length === shown.length) || /^\s*[.[]/u.test(shown.slice(code.length));
    if (body) {
      const end = shift + [...code].length - isCut;
      const nodes = [...walk(...body)], counters = nodes.flatMap(counted).flatMap((one) => [...walk(one)]);
      const known = { stored: new Set(nodes.flatMap(stored)), counters: counters.flatMap(({ id = [] }) => id) };
      return { text, characters: [...text], body, end, ...known, parts: new Map() };
    }
  }
  return null;
}

function parsed(code, shift) {
  const body = unlessRefused(() => new Statements(code, shift).line());
  return body && depth(body) <= DEEPEST ? body : null;
}

export const isExpression = ({ type, start }) => start !== undefined && !["Assign", "AugAssign"].includes(type);

/** How many expressions stand within each other. */
function depth(nodes) {
  let count = 0;
  for (; nodes.length; nodes = nodes.flatMap(inner)) count += nodes.some(isExpression);
  return count;
}
