// A diagnosis as elements of the page: what is in the wrong place with the lines to change, or what can tell, and the
// rest folded. The words are those of samedevice/doctor/outline.py; what was pasted becomes text, and never HTML.

import { last } from "./doctor/normalise.js";

const SITE = new URL("../", import.meta.url);
const FORM = 800; // characters that the issue form is given: GitHub refuses addresses of more than 8 kB, and one may take 9 of them
const NAME = 60; // characters of the longest expression that a sentence repeats
const REASONS = 3; // why we think that it is this cause, strongest first
const OTHERS = 3; // errors that are named beside the one that is explained
const CAUSES = 3; // that are shown
const UNKNOWN = "If it is a device error, this page does not know it yet.";
const WORDS = 200; // characters of a text that may be words to search for
const ON_GITHUB = ": a form on GitHub then has the end of your text; nothing is published until you submit it there.";
const TELLS = "This line, above the one that failed, tells which:";
const UPDATE = "A newer release may have fixed it:";
const TO_BE_SURE = "To be sure, let samedevice look into the program itself";

/** What is shown for a diagnosis of `text`, by the parsed catalog.json. */
export function rendered(catalog, diagnosis, text) {
  const { message, says, causes, culprits, place, other, ask, owner } = diagnosis;
  const said = element("p", { class: "diagnosis__says" }, ...marked(says));
  const failing = place ? [element("p", { class: "diagnosis__place" }, placed(place)), failingLines(place, culprits)] : [];
  const next = ask ? [element("p", {}, "Next: ", ...marked(ask))] : [];
  const handed = other || text.trim().length > WORDS ? [] : [element("p", {}, searcher(text))];
  if (!message) return [said, ...handed, ...failing, ...next, element("p", {}, ...leadsOn(other, text))];
  const isOne = culprits.length === 1 && !owner; // then the lines to change are the reader's own, and the failing ones can wait
  const ofText = culprits.length > 1 ? ofCandidates : isOpen(catalog, diagnosis) ? ofCauses : ofFirst;
  const shape = owner ? ofOwner : causes.length ? ofText : () => ({});
  const { heading, shown = [], reasons, others = [], links = [] } = shape(catalog, diagnosis);
  return [
    ...(heading ? [element("h2", {}, ...marked(heading))] : []),
    said,
    ...(message.ask ? next : []), // the text lacks what would help most
    ...(isOne ? [] : failing),
    ...shown,
    ...(reasons ? [folded("Why this happens", [...(isOne ? failing : []), ...reasons, ...about(message)])] : []),
    ...(others.length ? [folded(`Other causes (${others.length})`, others.flat())] : []),
    ...(message.ask ? [] : next),
    ...beside(diagnosis),
    ...(diagnosis.ways.length && !isOpen(catalog, diagnosis) ? [folded(TO_BE_SURE, [waysShown(diagnosis)])] : []),
    element("p", { class: "diagnosis__links" }, link(`errors/${message.id.toLowerCase()}/`, `More about ${message.id}`), ...links),
  ];
}

/** What else the text holds: an error of another kind that comes last, and other device errors, the last ones. */
function beside({ last, others }) {
  const lines = others.map(({ message, place }) => `${message.id}${place ? ` (${placed(place)})` : ""}.`);
  const more = lines.length > OTHERS ? [`${lines.length - OTHERS} more.`] : [];
  return [
    ...(last ? [labelled("Note", ...marked(`The last error in this text is another one: ${named(last)}.`))] : []),
    ...[...more, ...lines.slice(-OTHERS)].map((line) => labelled("Also in this text", line)),
  ];
}

/** The first cause: the change of the reader's own line, or commands. */
function ofFirst(catalog, diagnosis) {
  const { causes, culprits } = diagnosis, [culprit] = culprits, id = firstId(diagnosis), cause = catalog.causes[id];
  const because = causes.find((one) => one.id === id)?.because ?? [culprit.sentence].filter(Boolean);
  const lines = culprit ? edited(culprit).map((some) => change(some, culprits)) : linesOf(cause);
  return {
    heading: `${howLikely(diagnosis)}: ${cause.title}`,
    shown: [...lines, checked(cause, culprit)],
    reasons: why(cause, because),
    others: reasoned(catalog, diagnosis).map((each) => another(catalog, each, !culprit)),
    links: [lesson(cause)],
  };
}

/** Others' code: what its user can do, and the text to report. What changes it is for who maintains it, and folded. */
function ofOwner(catalog, diagnosis) {
  const { owner, causes, culprits } = diagnosis, { name, says, tries, command: update, where, report } = owner;
  const at = where.startsWith("https://") ? ["at ", link(where, where)] : marked(where);
  const own = byChange(culprits).map((same) => {
    const [culprit] = same, cause = catalog.causes[culprit.case || culprit.cause];
    return [title(cause.title), ...edited(culprit).map((lines) => change(lines, same)), ...why(cause, [])];
  });
  const rest = causes.length ? reasoned(catalog, diagnosis).map((each) => another(catalog, each, true)) : [];
  const first = causes.length && !culprits.length ? [another(catalog, causes[0], true)] : [];
  return {
    heading: `In \`${name}\`, not in your code`,
    shown: [
      element("p", {}, ...marked(says)),
      ...(tries.length ? [element("ol", {}, ...tries.map((tried) => element("li", {}, ...marked(tried))))] : []),
      ...(update ? [element("p", {}, UPDATE), command(update)] : []),
      element("p", {}, "If the error stays, report it ", ...at, ", with this text:"),
      command(report, "the report"),
      folded(`To change it in \`${name}\``, [...own, ...first, ...rest].flat()),
    ],
  };
}

/** Several tensors, one of which is in the wrong place: the line that tells, and a change for each, or one for those that it moves. */
function ofCandidates(catalog, diagnosis) {
  const { culprits, tell } = diagnosis;
  const shown = tell ? [element("p", {}, TELLS), command(tell)] : [], reasons = [], told = [];
  for (const same of byChange(culprits)) {
    const [culprit] = same, cause = catalog.causes[culprit.case || culprit.cause];
    const beginning = `If it is ${same.map(({ expression }) => named(expression)).join(" or ")}:`;
    shown.push(title(beginning), ...edited(culprit).map((lines) => change(lines, same)));
    const because = same.map(({ sentence }) => sentence).filter(Boolean);
    const whole = [...why(cause, because), element("p", {}, lesson(cause))];
    reasons.push(title(`${beginning} ${cause.title}`), ...(told.includes(cause) ? thinks(because) : whole));
    told.push(cause);
  }
  const others = reasoned(catalog, diagnosis).map((each) => another(catalog, each));
  return { heading: choice(culprits), shown, reasons, others };
}

/** Those together that one change moves. */
function byChange(culprits) {
  const groups = new Map();
  for (const culprit of culprits) {
    const key = JSON.stringify([culprit.edits, culprit.edits.length ? "" : culprit.fix, culprit.instead]);
    groups.set(key, [...(groups.get(key) ?? []), culprit]);
  }
  return [...groups.values()];
}

/** No tensor that the text shows: what can tell, and the likely causes as a line each, with an example folded. */
function ofCauses(catalog, diagnosis) {
  const { message, causes, reads } = diagnosis;
  const lines = [causes[0], ...reasoned(catalog, diagnosis)].slice(0, CAUSES);
  const folds = lines.map((each) => folded(inOneLine(catalog, diagnosis, each), inFull(catalog, each, true)));
  const found = diagnosis.ways.length ? [element("p", {}, `${TO_BE_SURE}:`), waysShown(diagnosis)] : [];
  if (!message.note || "argument" in reads) return { shown: [...about(message), ...found, ...folds] }; // it says what to make of it
  return { shown: [...found, ...folds, folded("About this message", [element("p", {}, ...marked(message.note))])] };
}

/** Whether neither a line of the reader's nor a command is to be shown: then the ways to find out come first. */
const isOpen = (catalog, { message, causes, culprits, owner }) =>
  causes.length > 0 && !owner && (message.base || message.ask) && message.subject !== "libraries" && !culprits.length && !isCommand(catalog.causes[causes[0].id]);

const isCommand = ({ change: [line] }) => /^[$#]/u.test(line);

/** Which words stand before the first cause: if many share a message, nothing but their numbers tells them apart. */
function howLikely({ message, causes, culprits }) {
  return culprits.length || causes.some(({ because }) => because.length) || !message.base ? "Most likely" : "Most often";
}

/** A cause with what speaks for it, if it is the first, and what to look for. */
function inOneLine(catalog, diagnosis, { id, because }) {
  const cause = catalog.causes[id], isFirst = id === diagnosis.causes[0].id;
  return [`${isFirst ? howLikely(diagnosis) : "Or"}: ${cause.title}.`, ...(isFirst ? because.slice(0, 1) : []), cause.sign].join(" ");
}

/** The id of the cause that is shown first: that of a culprit, if one was read. */
const firstId = ({ culprits: [culprit], causes: [first] }) => (culprit ? culprit.case || culprit.cause : first?.id);

/** The other causes for which something was said; all, where nothing was of any. */
function reasoned(catalog, { causes, culprits }) {
  const widest = (id) => catalog.causes[id].within || id, isKnown = causes.some(({ because }) => because.length);
  const shown = culprits.length ? culprits.map(({ cause }) => cause) : [widest(causes[0].id)];
  return causes.filter(({ id, because }) => !shown.includes(widest(id)) && (because.length || !isKnown)).slice(0, CAUSES);
}

/** "One of `pred` and `target` is on the CPU." */
function choice(culprits) {
  const names = culprits.map(({ expression }) => named(expression));
  const where = culprits.every(({ device }) => device === "cpu") ? "on the CPU" : "on the wrong device";
  return `One of ${names.slice(0, -1).join(", ")} and ${names.at(-1)} is ${where}.`;
}

/** A part of the reader's code in a sentence; a backtick in it would end the mark. */
function named(expression) {
  const line = expression.split("\n").map((part) => part.trim()).join(" ");
  return line.includes("`") ? line : `\`${line}\``;
}

/** What names the tensor for certain, as commands; in a notebook as a cell, which installs what it needs. */
function waysShown({ ways }) {
  const from = repository() ? `"samedevice @ git+${repository()}"` : "path/to/same-device"; // one's own copy
  const install = `pip install ${from}`, isCell = ways[0].command.startsWith("from ");
  const shown = isCell ? ways : [{ when: "Once, where your program runs", command: install }, ...ways];
  const rows = shown.flatMap(({ when, command: line }) => [
    element("dt", {}, when),
    element("dd", {}, command(isCell ? `%${install}\n${line}` : line)),
  ]);
  return element("dl", {}, ...rows);
}

/** A line to run or to insert, with a button that copies it. */
function command(line, label = line) {
  const copies = { type: "button", class: "copy-fix", "data-clipboard-text": line, "aria-label": `Copy ${label}` };
  return element("div", { class: "command" }, element("pre", {}, element("code", {}, line)), element("button", copies, "Copy"));
}

/** Commands, each to be copied by itself, below what the catalog says of them: which alternative it is, what it shows. */
function commands({ change: lines }) {
  return lines.map((line) => {
    const [sign] = line.split(" ", 1), text = line.slice(sign.length + 1);
    return sign === "#" ? element("p", { class: "block-label" }, text) : command(text);
  });
}

/** Commands, or lines that are not the reader's: as an example, without a button to copy them. */
function linesOf(cause) {
  if (isCommand(cause)) return commands(cause);
  const shown = element("pre", { class: "example" }, element("code", {}, ...diff(cause.change)));
  return [element("p", { class: "block-label" }, "An example:"), shown];
}

/** Where it failed, such as "train.py, line 31, in main". */
function placed({ file, line, function: name }) {
  return [file, line && `line ${line}`, name && !name.startsWith("<") && `in ${name}`].filter(Boolean).join(", ");
}

const failingLines = ({ code }, culprits) =>
  element("pre", { class: "diagnosis__code" }, element("code", {}, ...underlined(code, culprits)));

/** Another cause below its title: how to check it, and why it happens. */
const another = (catalog, likely, withExample = false) => [
  title(`Or: ${catalog.causes[likely.id].title}`),
  ...inFull(catalog, likely, withExample),
];

function inFull(catalog, { id, because }, withExample) {
  const cause = catalog.causes[id], isTyped = isCommand(cause), lines = isTyped || withExample ? linesOf(cause) : [];
  const rest = [checked(cause), ...why(cause, because), element("p", {}, lesson(cause))];
  return isTyped ? [...lines, ...rest] : [...rest, ...lines];
}

const checked = (cause, culprit) =>
  element("p", { class: "diagnosis__check" }, element("strong", {}, "Check: "), ...marked(check(cause, culprit)));

const folded = (line, nodes) => element("details", {}, element("summary", {}, ...marked(line)), ...nodes);

/** Why a cause happens, why we think that it is this one, and what to read. */
function why(cause, because) {
  const rows = [element("p", {}, ...marked(cause.why)), ...thinks(because)];
  if (cause.link) rows.push(labelled("Read on", link(cause.link, cause.link)));
  return rows;
}

const thinks = (because) =>
  because.length ? [labelled("Why we think so", ...marked(because.slice(0, REASONS).join(" ")))] : [];

const labelled = (label, ...nodes) => element("p", {}, element("strong", {}, `${label}: `), ...nodes);
const about = ({ note }) => (note ? [labelled("About this message", ...marked(note))] : []);

const lesson = (cause) => link(cause.lesson, `Run it in lesson ${cause.lesson.match(/[0-9]+/u)}`);

/** Where a text leads that is not a device error, or not one that we know. */
const leadsOn = (other, text) =>
  other
    ? [link(other.link, `Read on: ${other.title}`)]
    : repository() ? ["If it is a device error, ", link(form(text), "tell us"), ON_GITHUB] : [UNKNOWN];

/** Words are for the search: it knows what people call things. */
function searcher(text) {
  const button = element("button", { type: "button", class: "md-button" }, "Search the site for these words");
  button.addEventListener("click", () => import("./search.js").then(({ searchFor }) => searchFor(text.trim())));
  return button;
}

/** Lines of the text with each culprit marked, in the first line that has it once. */
function underlined(code, culprits) {
  const shown = [];
  let end = 0;
  const spans = culprits.flatMap(({ expression }) => spanOf(expression, code));
  for (const [from, to] of spans.sort(([one], [other]) => one - other)) {
    if (from < end) continue; // a part of what is marked
    shown.push(code.slice(end, from), element("mark", {}, code.slice(from, to)));
    end = to;
  }
  return [...shown, code.slice(end)];
}

function spanOf(expression, code) {
  let start = 0;
  for (const line of code.split("\n")) {
    const [at, ...others] = occurrences(expression, line);
    if (at !== undefined && !others.length) return [[start + at, start + at + expression.length]];
    start += line.length + 1;
  }
  return [];
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

/** The lines to change as diffs, each below a label that says where they are: the reader's own, or another place. */
function edited({ edits, fix, instead, owner }) {
  const lines = edits.length ? [] : [`+ ${fix}`];
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

/** The reader's own lines to change, which copy-fix.js offers to copy. */
const change = (lines, culprits) => element("pre", { class: "change" }, element("code", {}, ...diff(lines, culprits)));

/** Lines as they go and come. A culprit is marked in those that stand in the text, so that the reader sees where it is. */
function diff(lines, culprits = []) {
  const tags = { "-": "del", "+": "ins" };
  return lines.map((line) => {
    const attributes = /^[-+ ]|^$/u.test(line) ? {} : { class: "change__place" };
    const parts = /^[- ] /u.test(line) ? [line.slice(0, 2), ...underlined(line.slice(2), culprits)] : [line];
    return element(tags[line[0]] ?? "span", attributes, ...parts, "\n");
  });
}

/** The text that is spoken: the first sentences that are shown. */
export function summary(catalog, diagnosis) {
  const { says, causes, culprits, ask, owner } = diagnosis, [first] = causes;
  if (owner) return `${says} ${owner.says}`.replaceAll("`", "");
  const heading = first && `${howLikely(diagnosis)}: ${catalog.causes[firstId(diagnosis)].title}.`;
  const line = first && isOpen(catalog, diagnosis) ? inOneLine(catalog, diagnosis, first) : heading;
  return [says, culprits.length > 1 ? choice(culprits) : (line ?? ask)].filter(Boolean).join(" ").replaceAll("`", "");
}

function form(text) {
  return `${repository()}/issues/new?${new URLSearchParams({ template: "unknown-error.yml", error: last(FORM, text) })}`;
}

/** The address of the repository; nothing until there is one. */
const repository = () => document.querySelector("script[data-repository]").dataset.repository;
const title = (text) => element("h3", {}, ...marked(text));
const link = (address, label) => element("a", { href: new URL(address, SITE) }, ...marked(label));
const marked = (text) => text.split(/`([^`]+)`/u).map((part, at) => (at % 2 ? element("code", {}, part) : part));

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children); // a string becomes text
  return made;
}
