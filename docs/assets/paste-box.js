// The home page's box to paste an error into: what the doctor finds is shown while you type. What is pasted stays in
// the browser, and is text wherever it is shown. A text that comes as a whole folds the box, so that its answer is on
// the same screen.

// The doctor itself comes with what is known about errors, after the page: see `load`.
import { rendered, summary } from "./diagnosis.js";
import { last, WINDOW } from "./doctor/normalise.js";

const LINK = "#error="; // what stands before a text in the address
// Characters of a text that a link holds: a traceback of that length makes one of about 12 kB. Of a longer link no more
// is read, whoever made it: a browser is busy for seconds laying out 200,000 marks.
const SHARED = 8_000;
const SHOWN = 800; // characters at the end of an unknown text that make another answer of it: the issue form has them
const PAUSE = 15; // ms after a key before the text is read: keys that come at once are read once
const SILENCE = 1_000; // ms without another diagnosis before a screen reader is told
const READING = "Reading…"; // until what is known about errors is there
const SITE = new URL("../", import.meta.url);

const box = globalThis.document?.querySelector(".doctor textarea");
if (box) attend(box.closest(".doctor"));

function attend(panel) {
  const part = (name) => panel.querySelector(name);
  const [result, spoken, note] = [part(".diagnosis"), part(".doctor__spoken"), part(".doctor__note")];
  const shared = part(".doctor__shared");
  const onTouch = matchMedia("(pointer: coarse)");
  // `isWhole`: the text was not typed. `takesFocus`: what had the focus goes when the text is there.
  let explain, catalog, loading, pause, silence, shown, pasted, isWhole, takesFocus;

  const load = () =>
    (loading ??= Promise.all([import("./doctor.js"), known()])
      .then(([doctor, json]) => ([{ explain }, catalog] = [doctor, json]))
      .finally(() => (loading = null)));

  function diagnose() {
    const text = box.value;
    if (text.trim() && !catalog) return wait();
    const diagnosis = text.trim() && explain(catalog, text);
    fold(isWhole && Boolean(diagnosis && (diagnosis.message || diagnosis.other)));
    const told = JSON.stringify([diagnosis, diagnosis.message ?? last(SHOWN, text)]);
    if (told === shown) return answered(); // what the reader has unfolded stays unfolded
    shown = told;
    show(diagnosis ? rendered(catalog, diagnosis, text) : [], diagnosis ? summary(catalog, diagnosis) : "");
  }

  function wait() {
    if (!shown) result.replaceChildren(element("p", READING));
    result.hidden = false;
    spoken.textContent = READING;
    return load().then(diagnose, notLoaded);
  }

  function notLoaded() {
    shown = null;
    fold(false);
    show([element("p", NOT_LOADED)], NOT_LOADED);
  }

  function show(nodes, sentence) {
    result.hidden = !nodes.length;
    result.replaceChildren(...nodes);
    answered();
    clearTimeout(silence);
    silence = setTimeout(() => (spoken.textContent = sentence), SILENCE);
  }

  /** What was pasted is answered on the screen: where the fix is below it, it comes up, and a phone's keyboard goes. */
  function answered() {
    if (!result.hidden && (takesFocus || (pasted && onTouch.matches))) result.focus({ preventScroll: true });
    const fix = result.querySelector(".change") ?? result;
    if (pasted && !result.hidden && fix.getBoundingClientRect().bottom > visualViewport.height) result.scrollIntoView();
    pasted = takesFocus = false;
  }

  /** Show two lines of the text, its last, where the error stands; or all of the box. */
  function fold(isFolded) {
    panel.classList.toggle("doctor--folded", isFolded);
    const blank = box.value.slice(box.value.trimEnd().length).split("\n").length - 1; // lines at its end
    if (isFolded) box.scrollTop = box.scrollHeight - (1 + blank / 2) * box.clientHeight;
  }

  function changed(length = box.value.length) {
    note.textContent = length > WINDOW ? cut(WINDOW) : "";
    shared.textContent = "";
    if (box.value.length > WINDOW) box.value = last(WINDOW, box.value);
    if (location.hash.startsWith(LINK)) history.replaceState(null, "", location.pathname + location.search);
    clearTimeout(pause);
    pause = setTimeout(diagnose, PAUSE);
  }

  function write(text) {
    pasted = false;
    isWhole = takesFocus = Boolean(text);
    box.value = text;
    changed();
  }

  function edit() {
    isWhole = false;
    fold(false);
    box.focus();
  }

  function open() {
    if (!location.hash.startsWith(LINK)) return;
    isWhole = true;
    try {
      const text = decodeURIComponent(location.hash.slice(LINK.length));
      box.value = last(SHARED, text);
      note.textContent = `This text came with the link.${text.length > SHARED ? ` ${cut(SHARED)}` : ""}`;
    } catch {
      note.textContent = "The text in this link is damaged. Ask for the link again, or paste the error.";
    }
    diagnose();
  }

  async function share() {
    const text = last(SHARED, box.value).replace(/\p{Surrogate}/gu, "\ufffd");
    history.replaceState(null, "", LINK + encodeURIComponent(text));
    const held = text.length < box.value.length ? ` It holds the last ${SHARED.toLocaleString("en")} characters.` : "";
    try {
      await navigator.clipboard.writeText(location.href);
      shared.textContent = `Link copied.${held} Whoever has it reads this text, paths included.`;
    } catch {
      shared.textContent = `The link is in the address bar: copy it there.${held} Whoever has it reads this text, paths included.`;
    }
  }

  result.tabIndex = -1; // it can be given the focus, and is no stop of the Tab key
  box.addEventListener("input", () => changed());
  box.addEventListener("beforeinput", (event) => {
    isWhole = pasted = /^insertFrom(Paste|Drop)/u.test(event.inputType);
    if (!(event.data?.length > WINDOW)) return;
    event.preventDefault(); // a browser would be busy for seconds laying such a text out
    box.setRangeText(last(WINDOW, event.data), box.selectionStart, box.selectionEnd, "end");
    changed(event.data.length);
  });
  box.addEventListener("click", () => panel.classList.contains("doctor--folded") && edit());
  part("[data-edit]").addEventListener("click", edit);
  part("[data-share]").addEventListener("click", share);
  part("[data-clear]").addEventListener("click", () => {
    write("");
    edit();
  });
  for (const button of panel.querySelectorAll("[data-example]"))
    button.addEventListener("click", () => write(button.dataset.example));
  addEventListener("hashchange", open);

  const early = () => catalog || load().catch(() => {}); // it is tried again when there is a text
  box.addEventListener("focus", early);
  open();
  if (box.value) {
    isWhole = true;
    diagnose(); // what a browser kept when the page was left
  } else if (document.readyState === "complete") early();
  else addEventListener("load", () => (globalThis.requestIdleCallback ?? setTimeout)(early));
}

async function known() {
  const response = await fetch(new URL("assets/catalog.json", SITE));
  return response.ok ? response.json() : Promise.reject(response.status);
}

function cut(kept) {
  return `Only the last ${kept.toLocaleString("en")} characters are kept: an error stands at the end.`;
}

function element(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

const NOT_LOADED =
  "What is known about errors could not be loaded. Check your connection, then change the text or load the page again.";
