// Who pastes an error into the search gets its page first: the search weighs words, the doctor knows messages. It is
// asked in the browser, once a text is long enough to be a message, and what it finds stands above the search's results.
// A traceback holds more than a message: its first result is the box that reads all of it.

const SHORTEST = 16; // characters of a message
const PAUSE = 15; // ms after a key before the text is read
const LONGEST = 8_000; // characters of a traceback that the box is given: its end, as much as a link of its own holds
const TRACEBACK = /Traceback \(most recent call last\)|File "[^"]+", line \d|\.py:\d+: |-> \d+ /u;
const SITE = new URL("../", import.meta.url);

let known, fetched, pause;
let pasted = ""; // with its line breaks, which a field for one line drops

const meta = document.querySelector(".md-search-result__meta");
const results = document.querySelector(".md-search-result__list");
const field = document.querySelector("[data-md-component=search-query]");

const load = () =>
  (known ??= Promise.all([
    import("./doctor.js"),
    fetch(new URL("assets/catalog.json", SITE)).then((response) => response.json()),
  ]).catch(() => (known = null)));

/** Open the search for some words. */
export function searchFor(words = "") {
  const toggle = document.getElementById("__search"); // on a phone, the field is not there before
  if (!toggle.checked) toggle.click();
  field.value = words;
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

meta?.setAttribute("role", "status"); // how many pages match, for who does not see it
// The worker loads this once something is asked: then it is in the browser's cache, or on its way there.
const early = () => (fetched ??= fetch(new URL("search/pages.json", SITE)).then((it) => it.text()).catch(() => (fetched = null)));
field?.addEventListener("focus", early);
field?.addEventListener("paste", (event) => (pasted = event.clipboardData?.getData("text") ?? ""));
field?.addEventListener("input", () => {
  if (field.value.trim() && !results.childElementCount) meta.textContent = "Loading…"; // Material says what was found
  show(null); // what stands there answers another text
  clearTimeout(pause);
  pause = setTimeout(() => answer(field), PAUSE);
});
document.addEventListener("reset", (event) => {
  if (event.target.matches(".md-search__form")) show(null);
});

async function answer(query) {
  const text = query.value;
  if (text.trim().length < SHORTEST) return;
  const isPasted = pasted.replace(/\s/gu, "") === text.replace(/\s/gu, ""), whole = isPasted ? pasted : text;
  if (TRACEBACK.test(whole)) return show(...box(whole));
  const [doctor, catalog] = (await load()) ?? [];
  if (!doctor || query.value !== text) return;
  const diagnosis = doctor.explain(catalog, text);
  // A message that says little by itself is part of others, too: their order is the search's to find.
  const { message, says } = diagnosis;
  if (message?.ask || !message) return show(null);
  show(`${message.title} (${message.id})`, says, `errors/${message.id.toLowerCase()}/`);
}

/** The result that hands a text over to the box: paste-box.js reads it from the address. */
function box(text) {
  const end = text.slice(-LONGEST).replace(/\p{Surrogate}/gu, "\ufffd");
  const says = "The box names the tensor and the lines to change. Your text stays in the browser.";
  return ["Read this traceback", says, `#error=${encodeURIComponent(end)}`];
}

function show(title, says, place) {
  document.querySelector(".search-doctor")?.remove();
  if (!title || !results) return hideRepeated();
  const made = (name, classes, ...inner) => {
    const element = document.createElement(name);
    element.className = classes;
    element.append(...inner);
    return element;
  };
  const heading = made("h1", "", title.replaceAll("`", ""));
  const badge = made("div", "md-tags", made("span", "md-tag", "Fix"));
  const said = made("p", "", says.replaceAll("`", ""));
  const text = made("article", "md-search-result__article md-typeset", heading, said, badge);
  text.dataset.mdScore = "1000000"; // Enter leads to the highest
  const link = made("a", "md-search-result__link", text);
  link.href = new URL(place, SITE);
  link.tabIndex = -1; // as the others: the arrow keys move among them
  const list = made("ol", "md-search-result__list search-doctor", made("li", "md-search-result__item", link));
  list.setAttribute("role", "presentation");
  results.before(list);
  hideRepeated();
}

// The page that stands above is not shown again among the search's results, which may come later.
const repeated = new MutationObserver(hideRepeated);
if (results) repeated.observe(results, { childList: true });

function hideRepeated() {
  const above = document.querySelector(".search-doctor a");
  for (const item of results?.children ?? []) item.hidden = item.querySelector("a").href === above?.href;
}
