// The order of search's results: one for each page, best first. The build puts this script before Material's worker,
// whose answers pass through here; Material finds and marks words, and this decides which page they lead to.
//
// A page is known by its names (what people call it), by the messages that it is about, by its title, and by its text.
// Of each such phrase it counts how many of the query's words it has, rare words for more than common ones, and how many
// of the query's neighbours are neighbours there too: a whole phrase weighs most. A message that many people report
// comes before one that few do.
(() => {
  const [SETUP, QUERY, RESULT] = [0, 2, 3]; // the types of Material's messages
  const WEIGHT = { names: 1.1, said: 1, title: 0.9, about: 0.9, section: 0.75, called: 0.7, text: 0.5 };
  const NEIGHBOURS = 0.45; // of a phrase's score, the share that neighbours make
  // Of a phrase's score, what many words beside those of the query cost.
  const BESIDES = { names: 0.3, title: 0.3, about: 0.3, said: 0.15, section: 0.15, called: 0, text: 0 };
  const ELSEWHERE = 0.1; // of what the whole page has of the query, beside its best phrase
  const PASSAGE = 24; // words of a text that are weighed together
  const COMMON = 0.2; // what the most reported message gains
  const KNOWN_AS = 0.7; // a word for another one
  const BEGUN = 0.8; // a word of which the query has the beginning
  const CUT = 0.45; // results with less of the best one's score are left out
  const SECTIONS = 3; // of a page
  const LONGEST = 60; // words of a query: of a traceback the end, where the message stands

  // What people write in two words or in one, and what stands for another word.
  const JOINED = ["hugging face", "data loader", "data parallel", "cross entropy", "check point"];
  const ALIKE = [
    ["gpu", "cuda", "nvidia"],
    ["ddp", "distributeddataparallel"],
    ["hf", "huggingface"],
    ["lstm", "gru", "rnn"],
    ["load", "deserialize"],
    ["check", "test", "pytest"],
    ["fake", "simulated", "simulate"],
    ["labels", "targets"],
    ["mismatch", "different"],
    ["ci", "github"],
  ];

  let pages = []; // { doc, kind, common, has, entries: [{ doc, phrases: [{ kind, words, has }] }] }
  let words = new Map(); // each word's pages
  let asked = "";

  const send = self.postMessage.bind(self);
  self.postMessage = (message) =>
    send(message.type === RESULT ? { ...message, data: ordered(message.data) } : message);
  addEventListener("message", ({ data: { type, data } }) => {
    if (type === SETUP) {
      unmixed();
      read(data.docs);
    }
    if (type === QUERY) asked = data;
  });

  // lunr, with which Material finds words, joins equal endings of words. It compares them as letters and numbers without
  // a sign between, so with digits in words two endings can look the same: it finds words that are nowhere, and fails.
  function unmixed() {
    self.lunr.TokenSet.prototype.toString = function () {
      const edges = Object.keys(this.edges).sort();
      return (this._str ||= `${+this.final}${edges.map((label) => `${label}${this.edges[label].id},`).join("")}`);
    };
  }

  const stem = (word) => (word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/u, "") : word);
  const raw = (text) => {
    const plain = text.toLowerCase().replace(/<[^>]*>/gu, " ").replace(/&(?:lt|gt|amp|quot|#39);/gu, " ");
    const joined = JOINED.reduce((all, pair) => all.replaceAll(pair, pair.replace(" ", "")), plain);
    return joined.replace(/(\d)(?=[a-z])/gu, "$1 ").match(/[a-z0-9\u0080-\uffff]+/gu) ?? [];
  };
  const alike = new Map();
  for (const group of ALIKE.map((group) => group.map(stem)))
    for (const word of group) alike.set(word, group.filter((other) => other !== word));

  function read(docs) {
    const byPlace = new Map();
    words = new Map();
    for (const doc of docs) {
      const [place, anchor] = doc.location.split("#");
      if (!byPlace.has(place)) byPlace.set(place, { common: doc.common ?? 0, kind: doc.kind, entries: [], doc });
      const page = byPlace.get(place);
      const phrases = [[anchor ? "section" : "title", doc.title]];
      for (const kind of ["names", "said", "about"]) for (const text of doc[kind] ?? []) phrases.push([kind, text]);
      phrases.push(["called", [doc.title, ...(doc.names ?? []), ...(doc.about ?? [])].join(" ")]);
      const all = phrases.map(([kind, text]) => ({ kind, words: raw(text).map(stem) }));
      if (doc.common === undefined) all.push(...passages(raw(doc.text).map(stem))); // else it is what is `said`
      for (const each of all) {
        each.has = new Set(each.words);
        for (const word of each.has) words.has(word) ? words.get(word).add(page) : words.set(word, new Set([page]));
      }
      page.entries.push({ doc, phrases: all });
      page.has = new Set([...(page.has ?? []), ...all.flatMap((each) => each.words)]);
    }
    pages = [...byPlace.values()];
  }

  // A text word by word, in passages that overlap by half.
  function passages(all) {
    const found = [];
    for (let at = 0; at === 0 || at + PASSAGE / 2 < all.length; at += PASSAGE / 2)
      found.push({ kind: "text", words: all.slice(at, at + PASSAGE) });
    return found;
  }

  // What a word of the query may stand for, each with its worth; the last one may be a beginning.
  function meanings(word, last) {
    const found = new Map((alike.get(stem(word)) ?? []).map((other) => [other, KNOWN_AS]));
    if (last && word.length > 1)
      for (const known of words.keys()) if (known.startsWith(word) && known !== word) found.set(known, BEGUN);
    return found.set(stem(word), 1);
  }

  function ordered(result) {
    const texts = raw(asked).slice(-LONGEST);
    const known = texts.map((word, at) => meanings(word, at === texts.length - 1));
    const rarity = (word) => Math.log(1 + pages.length / (words.get(word)?.size ?? 0.5));
    const worth = texts.map((word) => rarity(stem(word)));
    const total = worth.reduce((sum, each) => sum + each, 0);
    const best = (has, at) => {
      let most = 0;
      for (const [word, share] of known[at]) if (share > most && has.has(word)) most = share;
      return most;
    };
    const pairs = texts.slice(1).map((_, at) => worth[at] + worth[at + 1]);
    const allPairs = pairs.reduce((sum, each) => sum + each, 0);

    const score = (phrase) => {
      const had = texts.map((_, at) => best(phrase.has, at));
      const covered = had.reduce((sum, share, at) => sum + share * worth[at], 0) / total;
      if (!covered) return 0;
      let together = 0;
      for (const [at, pair] of pairs.entries())
        if (had[at] && had[at + 1] && adjacent(phrase.words, known[at], known[at + 1])) together += pair;
      const neighbours = pairs.length ? together / allPairs : 1;
      let value = WEIGHT[phrase.kind] * covered ** 1.5 * (1 - NEIGHBOURS + NEIGHBOURS * neighbours);
      const besides = BESIDES[phrase.kind];
      if (besides) {
        const used = phrase.words.filter((word) => known.some((meant) => meant.has(word)));
        const sum = (list) => list.reduce((all, word) => all + rarity(word), 0);
        value *= 1 - besides + (besides * sum(used)) / sum(phrase.words);
      }
      return value;
    };

    const candidates = new Map();
    for (const page of pages) {
      const sum = texts.reduce((all, _, at) => all + best(page.has, at) * worth[at], 0);
      candidates.set(page, total && sum / total);
    }
    const most = Math.max(...candidates.values());
    const found = [];
    for (const [page, everywhere] of candidates) {
      if (!everywhere || everywhere < CUT * most) continue;
      const entries = page.entries
        .map(({ doc, phrases }) => ({ doc, score: Math.max(...phrases.map(score)) }))
        .sort((one, other) => other.score - one.score);
      const whole = (entries[0].score + ELSEWHERE * everywhere ** 2) * (1 + COMMON * page.common);
      found.push({ page, entries, score: whole });
    }
    found.sort((one, other) => other.score - one.score);
    const marked = new Map(result.items.flat().map((item) => [item.location, item]));
    const items = found
      .filter(({ score }) => score >= CUT * found[0].score)
      .map(({ page, entries, score }) => {
        const item = (doc, value) => ({ ...(marked.get(doc.location) ?? unmarked(doc)), score: value });
        const article = { ...item(page.doc, score), tags: page.kind ? [page.kind] : undefined };
        const sections = entries.filter((each) => each.doc !== page.doc && each.score >= CUT * entries[0].score);
        return [article, ...sections.slice(0, SECTIONS).map((each) => item(each.doc, each.score))];
      });
    return { ...result, items };
  }

  // A page of which the query has no word but a name: the beginning of its text.
  function unmarked(doc) {
    const [beginning] = doc.text.replace(/<[^>]*>/gu, " ").match(/^.{0,160}(?=\s|$)/su) ?? [""];
    return { ...doc, terms: {}, text: beginning };
  }

  function adjacent(all, first, second) {
    for (let at = 1; at < all.length; at++) if (second.has(all[at]) && first.has(all[at - 1])) return true;
    return false;
  }
})();
