// The home page's box to paste an error into: what the doctor finds is shown while you type. What is pasted stays in
// the browser, and is text wherever it is shown.

// The doctor itself comes with what is known about errors, after the page: see `load`.
import { last, WINDOW } from "./doctor/normalise.js";

const LINK = "#error="; // what stands before a text in the address
const SHARED = 8_000; // characters of a text that a link holds: a traceback of that length makes one of about 12 kB
const FORM = 800; // characters that the issue form is given: GitHub refuses addresses of more than 8 kB, and one may take 9 of them
const PAUSE = 15; // ms after a key before the text is read: keys that come at once are read once
const SILENCE = 1_000; // ms without another diagnosis before a screen reader is told
const SITE = new URL("../", import.meta.url);

const box = globalThis.document?.querySelector(".doctor textarea");
if (box) attend(box.closest(".doctor"));

function attend(panel) {
  const part = (name) => panel.querySelector(name);
  const [result, spoken, note] = [part(".diagnosis"), part(".doctor__spoken"), part(".doctor__note")];
  let explain, catalog, loading, pause, silence, shown, pasted;

  const load = () =>
    (loading ??= Promise.all([import("./doctor.js"), known()])
      .then(([doctor, json]) => ([{ explain }, catalog] = [doctor, json]))
      .finally(() => (loading = null)));

  function diagnose() {
    const text = box.value;
    if (text.trim() && !catalog) return load().then(diagnose, notLoaded);
    const diagnosis = text.trim() && explain(catalog, text);
    const told = JSON.stringify([diagnosis, diagnosis.message ?? last(FORM, text)]);
    if (told === shown) return; // what the reader has unfolded stays unfolded
    shown = told;
    show(diagnosis ? rendered(catalog, diagnosis, text) : [], diagnosis ? summary(catalog, diagnosis) : "");
  }

  function notLoaded() {
    shown = null;
    show([element("p", {}, NOT_LOADED)], NOT_LOADED);
  }

  function show(nodes, sentence) {
    result.hidden = !nodes.length;
    result.replaceChildren(...nodes);
    if (pasted && nodes.length) reveal();
    pasted = false;
    clearTimeout(silence);
    silence = setTimeout(() => (spoken.textContent = sentence), SILENCE);
  }

  /** What was pasted is answered on the screen: where the fix is below it, it comes up, and a phone's keyboard goes. */
  function reveal() {
    if ((result.querySelector(".change") ?? result).getBoundingClientRect().bottom <= visualViewport.height) return;
    if (matchMedia("(pointer: coarse)").matches) result.focus({ preventScroll: true });
    result.scrollIntoView();
  }

  function changed(length = box.value.length) {
    note.textContent = length > WINDOW ? CUT : "";
    if (box.value.length > WINDOW) box.value = last(WINDOW, box.value);
    if (location.hash.startsWith(LINK)) history.replaceState(null, "", location.pathname + location.search);
    clearTimeout(pause);
    pause = setTimeout(diagnose, PAUSE);
  }

  function write(text) {
    pasted = false;
    box.value = text;
    changed();
  }

  function open() {
    if (!location.hash.startsWith(LINK)) return;
    try {
      box.value = last(WINDOW, decodeURIComponent(location.hash.slice(LINK.length)));
      note.textContent = "This text came with the link.";
    } catch {
      note.textContent = "The text in this link is damaged. Ask for the link again, or paste the error.";
    }
    diagnose();
  }

  async function share() {
    const text = last(SHARED, box.value).replace(/\p{Surrogate}/gu, "\ufffd");
    if (!text.trim()) return (note.textContent = "Paste an error first: the link holds it.");
    history.replaceState(null, "", LINK + encodeURIComponent(text));
    const cut = text.length < box.value.length ? ` It holds the last ${SHARED.toLocaleString("en")} characters.` : "";
    try {
      // A file of this disk is of no use to others.
      const page = location.protocol === "file:" ? document.querySelector("link[rel=canonical]") : location;
      await navigator.clipboard.writeText(page.href.split("#")[0] + location.hash);
      note.textContent = `Link copied.${cut}`;
    } catch {
      note.textContent = `The link is in the address bar: copy it there.${cut}`;
    }
  }

  result.tabIndex = -1; // it can be given the focus, and is no stop of the Tab key
  box.addEventListener("input", () => changed());
  box.addEventListener("beforeinput", (event) => {
    pasted = event.inputType === "insertFromPaste";
    if (!(event.data?.length > WINDOW)) return;
    event.preventDefault(); // a browser would be busy for seconds laying such a text out
    box.setRangeText(last(WINDOW, event.data), box.selectionStart, box.selectionEnd, "end");
    changed(event.data.length);
  });
  part("[data-share]").addEventListener("click", share);
  part("[data-clear]").addEventListener("click", () => {
    write("");
    box.focus();
  });
  for (const button of panel.querySelectorAll("[data-example]"))
    button.addEventListener("click", () => write(button.dataset.example));
  addEventListener("hashchange", open);

  const early = () => catalog || load().catch(() => {}); // it is tried again when there is a text
  box.addEventListener("focus", early);
  open();
  if (box.value) diagnose(); // what a browser kept when the page was left
  else if (document.readyState === "complete") early();
  else addEventListener("load", () => (globalThis.requestIdleCallback ?? setTimeout)(early));
}

async function known() {
  const response = await fetch(new URL("assets/catalog.json", SITE));
  return response.ok ? response.json() : Promise.reject(response.status);
}

const CUT = `Only the last ${WINDOW.toLocaleString("en")} characters are kept: an error stands at the end.`;
const NOT_LOADED =
  "What is known about errors could not be loaded. Check your connection, then change the text or load the page again.";
const REASONS = 3; // why we think that it is this cause, strongest first
const ON_GITHUB = ": a form on GitHub then has the end of your text; nothing is published until you submit it there.";

/** A diagnosis as samedevice/doctor/report.py has it: where, one sentence, the fix, and the details last. */
function rendered(catalog, { message, says, causes, culprits, place, other, ask }, text) {
  const nodes = [];
  const next = ask ? [element("p", {}, "Next: ", ...marked(ask))] : [];
  const atOnce = !message || message.ask; // the text lacks what would help most
  if (place) {
    const inside = place.function && !place.function.startsWith("<") && `in ${place.function}`;
    const where = [place.file, place.line && `line ${place.line}`, inside].filter(Boolean).join(", ");
    nodes.push(element("p", { class: "diagnosis__place" }, where));
    nodes.push(element("pre", { class: "diagnosis__code" }, element("code", {}, ...underlined(place.code, culprits))));
  }
  nodes.push(element("p", { class: "diagnosis__says" }, ...marked(says)));
  if (atOnce) nodes.push(...next);
  const isKnown = causes.some(({ because }) => because.length);
  const others = causes.slice(1).filter(({ because }) => because.length || !isKnown).slice(0, 3);
  causes.forEach((likely, number) => {
    const cause = catalog.causes[likely.id], why = ["Why", marked(cause.why)];
    const body = (culprit) => change(culprit ? edited(culprit) : example(cause));
    if (!number) {
      const folded = element("details", {}, element("summary", {}, "Why this happens"), element("p", {}, ...why[1]));
      const title = element("h2", {}, ...marked(`${isKnown || !message.base ? "Most likely" : "Most often"}: ${cause.title}`));
      nodes.push(title, body(culprits[0]), labelled(reasons(cause, likely.because)), folded);
    } else if (others.includes(likely)) {
      const title = element("summary", {}, ...marked(`Or: ${cause.title}`));
      nodes.push(element("details", {}, title, body(), labelled([...reasons(cause, likely.because), why])));
    }
  });
  if (message?.note) nodes.push(element("p", {}, "About this message: ", ...marked(message.note)));
  if (!atOnce) nodes.push(...next);
  if (message) nodes.push(element("p", {}, link(`errors/${message.id.toLowerCase()}/`, `More about ${message.id}`)));
  else if (other) nodes.push(element("p", {}, link(other.link, `Read on: ${other.title}`)));
  else nodes.push(element("p", {}, "If it is a device error, ", link(form(text), "tell us"), ON_GITHUB));
  return nodes;
}

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

/** The lines to change as a diff, below a label that says where they are: the reader's own. */
function edited({ edits, instead }) {
  const lines = [];
  for (const edit of edits) {
    const [old, text] = [edit.old, edit.text].map((part) => part.split("\n"));
    const replaces = edit.action === "replace";
    lines.push(placeOf(edit));
    if (replaces && old.length === text.length && old.length > 1) {
      // A statement that was read whole.
      old.forEach((line, at) => lines.push(...(line === text[at] ? [`  ${line}`] : [`- ${line}`, `+ ${text[at]}`])));
      continue;
    }
    if (replaces) lines.push(...old.map((line) => `- ${line}`));
    lines.push(...text.filter(Boolean).map((line) => `+ ${line}`));
  }
  if (instead) lines.push("or, once and for all, in __init__:", ...instead.split("\n").map((line) => `+ ${line}`));
  return lines;
}

/** Which line to change. */
function placeOf(edit) {
  const inside = edit.function && !edit.function.startsWith("<") ? `, in ${edit.function}` : "";
  const line = edit.action === "before" ? "above your line" : "your line";
  if (!edit.file) return `${line}:`;
  const name = edit.file.split("/").findLast((part) => part && part !== ".") ?? "";
  return `${line}${edit.line ? ` ${edit.line}` : ""} of ${name}${inside}:`;
}

function reasons(cause, because) {
  const lesson = link(cause.lesson, `Run it in lesson ${cause.lesson.match(/[0-9]+/u)}`);
  const rows = because.length ? [["Why we think so", marked(because.slice(0, REASONS).join(" "))]] : [];
  rows.push(["Check", marked(cause.confirm)]);
  if (cause.link) rows.push(["Read on", [link(cause.link, cause.link)]]);
  return [...rows, ["Lesson", [lesson]]];
}

function labelled(rows) {
  const terms = rows.flatMap(([label, nodes]) => [element("dt", {}, label), element("dd", {}, ...nodes)]);
  return element("dl", {}, ...terms);
}

function change(lines) {
  const tags = { "-": "del", "+": "ins" };
  const shown = lines.map((line) => {
    const attributes = /^[-+ $#]|^$/u.test(line) ? {} : { class: "change__place" };
    return element(tags[line[0]] ?? "span", attributes, `${line}\n`);
  });
  return element("pre", { class: "change" }, element("code", {}, ...shown));
}

/** The text that is spoken: what was found, and the first cause. */
function summary(catalog, { says, causes, ask }) {
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
