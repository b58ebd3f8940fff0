// A diagnosis as elements of the page: the most likely cause with the line to change and how to check it, and the rest
// folded. The words are those of samedevice/doctor/report.py; what was pasted becomes text, and never HTML.

import { last } from "./doctor/normalise.js";

const SITE = new URL("../", import.meta.url);
const FORM = 800; // characters that the issue form is given: GitHub refuses addresses of more than 8 kB, and one may take 9 of them
const NAME = 60; // characters of the longest expression that a sentence repeats
const REASONS = 3; // why we think that it is this cause, strongest first
const ON_GITHUB = ": a form on GitHub then has the end of your text; nothing is published until you submit it there.";

/** What is shown for a diagnosis of `text`, by the parsed catalog.json. */
export function rendered(catalog, { message, says, causes, culprits, place, other, ask }, text) {
  const [first, ...rest] = causes, [culprit] = culprits;
  const said = element("p", { class: "diagnosis__says" }, ...marked(says));
  const failing = place ? [element("p", { class: "diagnosis__place" }, placed(place)), failingLines(place, culprits)] : [];
  const next = ask ? [element("p", {}, "Next: ", ...marked(ask))] : [];
  if (!message) return [said, ...failing, ...next, element("p", {}, ...leadsOn(other, text))];
  const isKnown = causes.some(({ because }) => because.length);
  const others = rest.filter(({ because }) => because.length || !isKnown).slice(0, 3);
  const more = [link(`errors/${message.id.toLowerCase()}/`, `More about ${message.id}`)];
  const nodes = [said];
  if (first) {
    const cause = catalog.causes[first.id];
    const label = isKnown || !message.base ? "Most likely" : "Most often";
    nodes.unshift(element("h2", {}, ...marked(`${label}: ${cause.title}`)));
    if (message.ask) nodes.push(...next); // the text lacks what would help most
    if (!culprit) nodes.push(...failing); // else the lines to change are the reader's own
    nodes.push(...(culprit ? edited(culprit) : [example(cause)]).map((lines) => change(lines, culprits)));
    nodes.push(checked(cause, culprit));
    nodes.push(folded("Why this happens", [...(culprit ? failing : []), ...why(cause, first.because, message.note)]));
    more.push(lesson(cause));
  } else nodes.push(...failing, ...(message.ask ? next : []));
  if (others.length) nodes.push(folded(`Other causes (${others.length})`, others.flatMap((each) => another(catalog, each))));
  if (!message.ask) nodes.push(...next);
  return [...nodes, element("p", { class: "diagnosis__links" }, ...more)];
}

/** Where it failed, such as "train.py, line 31, in main". */
function placed({ file, line, function: name }) {
  return [file, line && `line ${line}`, name && !name.startsWith("<") && `in ${name}`].filter(Boolean).join(", ");
}

const failingLines = ({ code }, culprits) =>
  element("pre", { class: "diagnosis__code" }, element("code", {}, ...underlined(code, culprits)));

/** Another cause: its lines to change, how to check it, and why it happens. */
function another(catalog, { id, because }) {
  const cause = catalog.causes[id];
  const title = element("h3", {}, ...marked(`Or: ${cause.title}`));
  return [title, change(example(cause)), checked(cause), ...why(cause, because), element("p", {}, lesson(cause))];
}

const checked = (cause, culprit) =>
  element("p", { class: "diagnosis__check" }, element("strong", {}, "Check: "), ...marked(check(cause, culprit)));

const folded = (title, nodes) => element("details", {}, element("summary", {}, title), ...nodes);

/** Why a cause happens, why we think that it is this one, and what to read. */
function why(cause, because, note) {
  const rows = [element("p", {}, ...marked(cause.why))];
  const labelled = (label, ...nodes) => rows.push(element("p", {}, element("strong", {}, `${label}: `), ...nodes));
  if (because.length) labelled("Why we think so", ...marked(because.slice(0, REASONS).join(" ")));
  if (note) labelled("About this message", ...marked(note));
  if (cause.link) labelled("Read on", link(cause.link, cause.link));
  return rows;
}

const lesson = (cause) => link(cause.lesson, `Run it in lesson ${cause.lesson.match(/[0-9]+/u)}`);

/** Where a text leads that is not a device error, or not one that we know. */
const leadsOn = (other, text) =>
  other
    ? [link(other.link, `Read on: ${other.title}`)]
    : ["If it is a device error, ", link(form(text), "tell us"), ON_GITHUB];

/** The failing lines, with the first culprit marked if it stands there once. */
function underlined(code, [culprit]) {
  const lines = code.split("\n");
  for (const [number, line] of culprit ? lines.entries() : []) {
    const { expression } = culprit, [start, ...others] = occurrences(expression, line);
    if (start === undefined || others.length) continue;
    const [before, after] = [lines.slice(0, number), lines.slice(number + 1)].map((some) => some.join("\n"));
    const end = start + expression.length;
    return [
      `${before}${before && "\n"}${line.slice(0, start)}`,
      element("mark", {}, expression),
      `${line.slice(end)}${after && "\n"}${after}`,
    ];
  }
  return [code];
}

/** Where an expression stands in a line, and is no part of a longer name. */
function occurrences(expression, line) {
  const found = [];
  for (let at = line.indexOf(expression); expression && at >= 0; at = line.indexOf(expression, at + 1)) {
    const [before, after] = [line.slice(0, at), line.slice(at + expression.length)];
    if (!/[\p{L}\p{N}_.]$/u.test(before) && !/^[\p{L}\p{N}_]/u.test(after)) found.push(at);
  }
  return found;
}

/** The lines of a cause, or the commands to run, each after "$" or "#". */
const example = ({ change }) => (/^[$#]/u.test(change[0]) ? change : ["for example:", ...change]);

/** The lines to change as diffs, each below a label that says where they are: the reader's own, or another place. */
function edited({ edits, instead, owner }) {
  const lines = [];
  for (const edit of edits) {
    const [old, text] = [edit.old, edit.text].map((part) => part.split("\n"));
    const replaces = edit.action === "replace";
    lines.push(placeOf(edit, owner));
    if (replaces && old.length === text.length && old.length > 1) {
      // A statement that was read whole.
      old.forEach((line, at) => lines.push(...(line === text[at] ? [`  ${line}`] : [`- ${line}`, `+ ${text[at]}`])));
      continue;
    }
    if (replaces) lines.push(...old.map((line) => `- ${line}`));
    lines.push(...text.filter(Boolean).map((line) => `+ ${line}`));
    if (!replaces) lines.push(...old.filter(Boolean).map((line) => `  ${line}`)); // the line that it goes above
  }
  const once = instead && ["or, once and for all, in the __init__ of a module:", ...instead.split("\n").map((line) => `+ ${line}`)];
  return once ? [lines, once] : [lines];
}

/** Which line to change; `owner` is the installed package that it belongs to, or "". */
function placeOf(edit, owner) {
  const inside = edit.function && !edit.function.startsWith("<") ? `, in ${edit.function}` : "";
  const above = edit.action === "before" ? "above " : "";
  const line = above + (owner ? "line" : "your line");
  if (!edit.file) return `${line}:`;
  const name = edit.file.split("/").findLast((part) => part && part !== ".") ?? "";
  return `${line}${edit.line ? ` ${edit.line}` : ""} of ${name}${owner && ` of ${owner}`}${inside}:`;
}

/** How to check a cause: with the reader's own name for the tensor, where it was read and fits in a sentence. */
function check(cause, { expression } = {}) {
  const isShort = expression && expression.length <= NAME && !/[`\n]/u.test(expression);
  return cause.confirm_read && isShort ? cause.confirm_read.replaceAll("{name}", () => expression) : cause.confirm;
}

/** Lines to change. A culprit is marked in the lines that stand in the text, so that the reader sees where it is. */
function change(lines, culprits = []) {
  const tags = { "-": "del", "+": "ins" };
  const shown = lines.map((line) => {
    const attributes = /^[-+ $#]|^$/u.test(line) ? {} : { class: "change__place" };
    const parts = /^[- ] /u.test(line) ? [line.slice(0, 2), ...underlined(line.slice(2), culprits)] : [line];
    return element(tags[line[0]] ?? "span", attributes, ...parts, "\n");
  });
  return element("pre", { class: "change" }, element("code", {}, ...shown));
}

/** The text that is spoken: what was found, and the first cause. */
export function summary(catalog, { says, causes, ask }) {
  const cause = causes.length ? `Most likely: ${catalog.causes[causes[0].id].title}.` : ask;
  return `${says} ${cause}`.replaceAll("`", "");
}

function form(text) {
  const { repository } = document.querySelector("script[data-repository]").dataset;
  return `${repository}/issues/new?${new URLSearchParams({ template: "unknown-error.yml", error: last(FORM, text) })}`;
}

const link = (address, label) => element("a", { href: new URL(address, SITE) }, ...marked(label));
const marked = (text) => text.split(/`([^`]+)`/u).map((part, at) => (at % 2 ? element("code", {}, part) : part));

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children); // a string becomes text
  return made;
}
