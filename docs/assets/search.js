// Who pastes an error into the search gets its page first: the search weighs words, the doctor knows messages. It is
// asked in the browser, once a text is long enough to be a message, and what it finds stands above the search's results.

const SHORTEST = 16; // characters of a message
const PAUSE = 15; // ms after a key before the text is read
const SITE = new URL("../", import.meta.url);

let known, pause;

const load = () =>
  (known ??= Promise.all([
    import("./doctor.js"),
    fetch(new URL("assets/catalog.json", SITE)).then((response) => response.json()),
  ]).catch(() => (known = null)));

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-md-component=search-query]")) return;
  show(null); // what stands there answers another text
  clearTimeout(pause);
  pause = setTimeout(() => answer(event.target), PAUSE);
});
document.addEventListener("reset", (event) => {
  if (event.target.matches(".md-search__form")) show(null);
});

async function answer(query) {
  const text = query.value;
  if (text.trim().length < SHORTEST) return;
  const [doctor, catalog] = (await load()) ?? [];
  if (!doctor || query.value !== text) return;
  const diagnosis = doctor.explain(catalog, text);
  // A message that says little by itself is part of others, too: their order is the search's to find.
  show(diagnosis.message?.ask ? null : diagnosis.message, diagnosis.says);
}

function show(message, says) {
  document.querySelector(".search-doctor")?.remove();
  if (!message || !results) return hideRepeated();
  const made = (name, classes, ...inner) => {
    const element = document.createElement(name);
    element.className = classes;
    element.append(...inner);
    return element;
  };
  const title = made("h1", "", `${message.title.replaceAll("`", "")} (${message.id})`);
  const badge = made("div", "md-tags", made("span", "md-tag", "Fix"));
  const said = made("p", "", says.replaceAll("`", ""));
  const text = made("article", "md-search-result__article md-typeset", title, said, badge);
  text.dataset.mdScore = "1000000"; // Enter leads to the highest
  const link = made("a", "md-search-result__link", text);
  link.href = new URL(`errors/${message.id.toLowerCase()}/`, SITE);
  link.tabIndex = -1; // as the others: the arrow keys move among them
  const list = made("ol", "md-search-result__list search-doctor", made("li", "md-search-result__item", link));
  list.setAttribute("role", "presentation");
  results.before(list);
  hideRepeated();
}

// The page that stands above is not shown again among the search's results, which may come later.
const results = document.querySelector(".md-search-result__list");
const repeated = new MutationObserver(hideRepeated);
if (results) repeated.observe(results, { childList: true });

function hideRepeated() {
  const above = document.querySelector(".search-doctor a");
  for (const item of results?.children ?? []) item.hidden = item.querySelector("a").href === above?.href;
}
