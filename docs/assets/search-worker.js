// The search itself, in the place of Material's worker, of which it speaks the four messages: Material has the field, the
// keys and the list of results, and this finds the pages. What is known about them (tools/site_build/search_entries.py)
// is loaded when something is asked.
//
// A page is known by its names (what people call it), by the messages that it is about, by its title, and by its text.
// Of each such phrase it counts how many of the query's words it has, rare words for more than common ones, and how many
// of the query's neighbours are neighbours there too: a whole phrase weighs most. A message that many people report
// comes before one that few do. Words count without their endings, and a word that no page has as the one that is
// spelled like it.

const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
const WEIGHT = { names: 1.1, said: 1, title: 0.9, about: 0.9, section: 0.75, called: 0.7, text: 0.5 };
const NEIGHBOURS = 0.45; // of a phrase's score, the share that neighbours make
// Of a phrase's score, what many words beside those of the query cost.
const BESIDES = { names: 0.3, title: 0.3, about: 0.3, said: 0.15, section: 0.15, called: 0, text: 0 };
const ELSEWHERE = 0.1; // of what the whole page has of the query, beside its best phrase
const PASSAGE = 24; // words of a text that are weighed together
const COMMON = 0.2; // what the most reported message gains
const [KNOWN_AS, BEGUN, MISSPELT] = [0.7, 0.8, 0.8]; // for another word, the beginning of one, a word with a slip in it
const SHORTEST_MISSPELT = 5; // letters
const ENOUGH = 0.35; // of what the page with most of a query's words has: with less, a page is not weighed
const SHOWN = 20; // pages
const SECTIONS = 3; // of a page, each with at least this share of the best one's score
const SECTION = 0.45;
const LONGEST = 60; // words of a query: of a traceback the end, where the message stands
const TEASER = 180; // characters
const NOT_LOADED = {
  location: "errors/",
  title: "The search could not be loaded",
  text: "Check your connection, then change the words.",
};

/** A word without its ending: batches and batch, moving and move, debugging and debug are one. */
const stem = (word) => {
  if (word.length < 4 || /\d/u.test(word)) return word;
  const one = word.replace(/(sse|xe|che|she)s$/u, (end) => end.slice(0, -2)).replace(/ies$/u, "y").replace(/([^su])s$/u, "$1");
  const root = one.length > 4 ? one.replace(/(?:(?<=...)ing|ed)$/u, "") : one;
  return root.length > 2 ? root.replace(/e$/u, "").replace(/([b-df-hj-km-np-rt-vx-z])\1$/u, "$1") : root;
};

const WORD = /[a-z0-9\u0080-\uffff]+/giu;
let index;

const load = () =>
  (index ??= fetch(new URL("../../../search/pages.json", location))
    .then((response) => (response.ok ? response.json() : Promise.reject(response.status)))
    .then(read)
    .catch(() => (index = undefined)));

addEventListener("message", async ({ data: { type, data } }) => {
  if (type === SETUP) postMessage({ type: READY });
  if (type !== QUERY) return;
  const known = data.trim() && (await load());
  const items = known ? ordered(known, data) : data.trim() ? [[{ ...NOT_LOADED, score: 1, terms: {} }]] : [];
  postMessage({ type: RESULT, data: { items } });
});

/** What makes words of a text. What people write in two words or in one is one. */
function reader(together) {
  const pairs = new RegExp(`\\b(?:${together.join("|")})\\b`, "gu");
  return (text) =>
    text.toLowerCase().replace(/&(?:lt|gt|amp|quot|#39);/gu, " ")
      .replace(pairs, (pair) => pair.replace(" ", "")).replace(/(\d)(?=[a-z])/gu, "$1 ").match(WORD) ?? [];
}

function read({ docs, alike, together }) {
  const pages = new Map(); // { doc, kind, common, entries: [{ doc, phrases: [{ kind, words }] }] }
  const words = new Map(); // each word's pages
  const wordsOf = reader(together), stems = (text) => wordsOf(text).map(stem);
  for (const doc of docs) {
    const [place, anchor] = doc.location.split("#");
    if (!pages.has(place))
      pages.set(place, { common: doc.common ?? 0, kind: doc.kind, entries: [], doc });
    const page = pages.get(place);
    const phrases = [[anchor ? "section" : "title", doc.title]];
    for (const kind of ["names", "said", "about"]) for (const text of doc[kind] ?? []) phrases.push([kind, text]);
    phrases.push(["called", [doc.title, ...(doc.names ?? []), ...(doc.about ?? [])].join(" ")]);
    const all = phrases.map(([kind, text]) => ({ kind, words: stems(text) }));
    if (doc.common === undefined) all.push(...passages(stems(doc.text))); // else it is what is `said`
    for (const word of all.flatMap((each) => each.words))
      words.has(word) ? words.get(word).add(page) : words.set(word, new Set([page]));
    page.entries.push({ doc, phrases: all });
  }
  const others = new Map();
  for (const group of alike.map((group) => group.map(stem)))
    for (const word of group) others.set(word, [...(others.get(word) ?? []), ...group]);
  return { pages: [...pages.values()], words, others, wordsOf };
}

/** A text word by word, in passages that overlap by half. */
function passages(all) {
  const found = [];
  for (let at = 0; at === 0 || at + PASSAGE / 2 < all.length; at += PASSAGE / 2)
    found.push({ kind: "text", words: all.slice(at, at + PASSAGE) });
  return found;
}

/** What a word of the query may stand for, each with its worth; the last one may be a beginning. */
function meanings({ words, others }, word, isLast) {
  const own = stem(word), found = new Map((others.get(own) ?? []).map((other) => [other, KNOWN_AS]));
  if (isLast && word.length > 1)
    for (const known of words.keys()) if (known.startsWith(word) && known !== word) found.set(known, BEGUN);
  if (!found.size && !words.has(own) && own.length >= SHORTEST_MISSPELT)
    for (const known of words.keys()) if (isSlip(own, known)) found.set(known, MISSPELT);
  return found.set(own, 1);
}

/** Whether two words differ by a letter that is wrong, too many, missing, or in the other's place; by two, of long ones. */
function isSlip(one, other) {
  const most = one.length > 8 ? 2 : 1;
  if (one[0] !== other[0] || Math.abs(one.length - other.length) > most) return false;
  let before, row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] !== other[j - 1]));
      const areSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (areSwapped) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return row.at(-1) <= most;
}

/** The results for a query, best first: of each page it and its best sections. */
function ordered(index, query) {
  const { pages, words, wordsOf } = index;
  const texts = wordsOf(query).slice(-LONGEST);
  const rare = new Map();
  const rarity = (word) =>
    rare.get(word) ?? (rare.set(word, Math.log(1 + pages.length / (words.get(word)?.size ?? 0.5))), rare.get(word));
  const worth = texts.map((word) => rarity(stem(word)));
  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
  const total = sum(worth);
  const pairs = texts.slice(1).map((_, at) => worth[at] + worth[at + 1]);
  const allPairs = sum(pairs);

  // Each word that means one of the query's: which of them, and how well. And of each page, how much it has of them.
  const known = new Map(), has = new Map();
  texts.forEach((text, at) => {
    const most = new Map();
    for (const [word, share] of meanings(index, text, at === texts.length - 1)) {
      known.set(word, [...(known.get(word) ?? []), [at, share]]);
      for (const page of words.get(word) ?? []) most.set(page, Math.max(most.get(page) ?? 0, share));
    }
    for (const [page, share] of most) has.set(page, (has.get(page) ?? 0) + (share * worth[at]) / total);
  });

  const score = (phrase) => {
    const [had, together, used, asked] = [[], [], [], phrase.words.map((word) => known.get(word) ?? [])];
    asked.forEach((meant, i) => {
      if (meant.length) used.push(phrase.words[i]);
      for (const [at, share] of meant) {
        had[at] = Math.max(had[at] ?? 0, share);
        if (i && asked[i - 1].some(([other]) => other === at - 1)) together[at - 1] = pairs[at - 1];
      }
    });
    if (!used.length) return 0;
    const covered = had.reduce((all, share, at) => all + share * worth[at], 0) / total;
    const neighbours = pairs.length ? together.reduce((all, each) => all + each, 0) / allPairs : 1;
    const value = WEIGHT[phrase.kind] * covered ** 1.5 * (1 - NEIGHBOURS + NEIGHBOURS * neighbours);
    const besides = BESIDES[phrase.kind];
    return besides ? value * (1 - besides + (besides * sum(used.map(rarity))) / sum(phrase.words.map(rarity))) : value;
  };

  const found = [], enough = ENOUGH * Math.max(...has.values());
  for (const [page, share] of has) {
    if (share < enough) continue;
    const entries = page.entries
      .map(({ doc, phrases }) => ({ doc, score: Math.max(...phrases.map(score)) }))
      .sort((one, other) => other.score - one.score);
    const whole = (entries[0].score + ELSEWHERE * share ** 2) * (1 + COMMON * page.common);
    found.push({ page, entries, score: whole });
  }
  const item = (doc, value) => ({ ...shown(doc, known, worth), score: value, terms: {} });
  return found
    .sort((one, other) => other.score - one.score)
    .slice(0, SHOWN)
    .map(({ page, entries, score }) => {
      const article = { ...item(page.doc, score), tags: page.kind ? [page.kind] : undefined };
      const sections = entries.filter((each) => each.doc !== page.doc && each.score >= SECTION * entries[0].score);
      return [article, ...sections.slice(0, SECTIONS).map((each) => item(each.doc, each.score))];
    });
}

/** An entry with the query's words marked, and of its text what stands around the rarest of them. */
function shown(doc, known, worth) {
  doc.places ??= [...doc.text.matchAll(WORD)].map(({ 0: word, index }) => [stem(word.toLowerCase()), index]);
  const worthOf = (word) => Math.max(0, ...(known.get(word) ?? []).map(([at, share]) => share * worth[at]));
  const marked = (part) =>
    part.replace(/&#?\w+;|[a-z0-9\u0080-\uffff]+/giu, (word) =>
      known.has(stem(word.toLowerCase())) && word[0] !== "&" ? `<mark data-md-highlight>${word}</mark>` : word);
  let [rarest, from] = [0, 0];
  for (const [word, index] of doc.places)
    if (known.has(word) && worthOf(word) > rarest) [rarest, from] = [worthOf(word), index];
  from = from > TEASER / 2 ? doc.text.indexOf(" ", from - TEASER / 2) + 1 : 0;
  const rest = doc.text.slice(from), end = rest.length > TEASER ? rest.lastIndexOf(" ", TEASER) : rest.length;
  const text = `${from ? "… " : ""}${marked(rest.slice(0, end))}${end < rest.length ? " …" : ""}`;
  return { location: doc.location, title: marked(doc.title), text };
}
