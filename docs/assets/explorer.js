// The placement explorer: put each argument of an operator on a device, and see what PyTorch's CUDA build does. The
// answers are those that were recorded (tools/site_build/explorer_data.py packs them); nothing here knows a rule of PyTorch's.
// What a link holds is text wherever it is shown.

const SITE = new URL("../", import.meta.url);
const LINK = "#op="; // what stands before a choice in the address
const START = "op=nn.functional.linear&on=cpu,cuda:0,cuda:0";
const KEYS = { c: 0, 0: 1, 1: 2 };
const KINDS = {
  call: ["Call", "the function, as it is"],
  inplace: ["In place", "the method with a trailing underscore"],
  out: ["out=", "the result is written into a tensor of yours"],
  backward: ["Backward", "the call, then backward() of the sum of its result"],
};
const OLD_BROWSER = "This browser cannot unpack the record (it has no DecompressionStream). The table below needs nothing.";
const NOT_LOADED = "The record could not be loaded. Check your connection and load the page again, or read the table below.";
// Why a case runs, in one line; the rest of the reason is folded.
const RUNS = {
  same: "All tensors are on one device.",
  scalar: "A tensor with 0 dimensions on the CPU counts as a number.",
  index: "Indices may stay on the CPU.",
  crossing: "It copies from one device to another.",
  apart: "No step of it mixes two devices.",
  unchecked: "It does not compare devices.",
  composite: "The operators that it is made of take this.",
  unknown: "",
};
const UNKNOWN =
  "PyTorch was asked without a GPU, and here its answer takes more than devices: a library such as cuDNN, or computed values.";
const NO_CALL = "The call itself does not go through here, so there is nothing to go backward from.";
const APART = "With three tensors or more, out= was asked with the other tensors on one device only.";

const place = globalThis.document?.querySelector(".explorer");
if (place) open(place);

/** The record, unpacked: a server may have done that already. */
export async function load() {
  const response = await fetch(new URL("assets/explorer.json.gz", SITE));
  if (!response.ok) throw new Error(response.status);
  const packed = await response.blob();
  const [first, second] = new Uint8Array(await packed.slice(0, 2).arrayBuffer());
  const plain = first !== 0x1f || second !== 0x8b;
  return new Response(plain ? packed : packed.stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** Every operator by its name, and of each the samples with the kinds of call that were recorded. */
export function operators(data) {
  const unpacked = ([number, shapes, names, kinds]) => ({
    number,
    shapes,
    names,
    kinds: new Map(kinds.map(([kind, row, code]) => [kind, { row: data.rows[row], code: data.codes[code] ?? "" }])),
  });
  return new Map(data.operators.map(([name, samples]) => [name, samples.map(unpacked)]));
}

/** The answer to one case: `places` are indices of data.devices, that of the out tensors last. */
export function answer(data, sample, kind, places) {
  const { row } = sample.kinds.get(kind);
  const apart = row.length < 3 ** places.length; // of out=: what is not out was asked together
  if (apart && new Set(places.slice(0, -1)).size > 1) return { missing: APART };
  const digits = apart ? places.slice(-2) : places;
  const found = data.answers[row[digits.reduce((index, digit) => 3 * index + digit, 0)]];
  if (!found) {
    const failed = kind === "backward" && answer(data, sample, "call", places).error;
    return { missing: failed ? NO_CALL : UNKNOWN };
  }
  const because = ([rule, op, line]) => reason(data, rule, op, line);
  const devices = [...found[1]].map((digit) => data.devices[digit]);
  if (found[0] < 0) return { ok: devices, why: found[2].map(because) };
  const [error, text, id, lesson] = data.texts[found[0]];
  return { error, message: text.replace(/\{\}/gu, () => devices.shift()), id, lesson, why: [because(found[2])] };
}

function reason(data, rule, op, line) {
  const [name, inYaml] = data.aten[op] ?? ["", 0];
  const [raiser, where] = (data.lines[line] ?? " ").split(" ");
  const { says, links } = data.rules[rule];
  const worded = (text) => text.replace("{op}", name).replace("{function}", raiser);
  const source = (path) => `${data.source}${path.replace(":", "#L")}`;
  const shown = [];
  if (where && !where.startsWith("build/")) shown.push([where, source(where)]);
  shown.push(...links.map((path) => [path, source(path)]));
  if (inYaml) shown.push([`${data.yaml.split("/").pop()}:${inYaml}`, source(`${data.yaml}:${inYaml}`)]);
  return { rule, says: worded(says), op: name, links: shown };
}

async function open(explorer) {
  const part = (name) => explorer.querySelector(name);
  const [note, form, panel, spoken] = [".explorer__note", "form", "section", ".doctor__spoken"].map(part);
  if (!globalThis.DecompressionStream) return (note.textContent = OLD_BROWSER);
  note.textContent = "Loading the record.";
  let data;
  try {
    data = await load();
  } catch {
    return (note.textContent = NOT_LOADED);
  }
  const all = operators(data);
  let chosen;

  // The operator: a box to type in, with a list of those that match.
  const input = part("input");
  const list = part("[role=listbox]");
  const options = new Map([...all.keys()].map((name) => [name, element("li", { role: "option" }, name)]));
  [...options.values()].forEach((option, number) => (option.id = `operator-${number}`));
  let active = null;

  function expand(wanted) {
    const found = wanted ? matching([...all.keys()], wanted) : [...all.keys()];
    const none = element("li", { role: "presentation" }, "No recorded operator has these letters.");
    list.replaceChildren(...(found.length ? found.map((name) => options.get(name)) : [none]));
    for (const [name, option] of options) option.setAttribute("aria-selected", name === chosen.name);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    activate(wanted ? options.get(found[0]) : options.get(chosen.name));
  }

  /** What is typed is no operator, or not yet: what was said of another one goes. */
  function clear(sentence = "") {
    note.textContent = sentence;
    tensors.replaceChildren();
    panel.replaceChildren();
    spoken.textContent = "";
    for (const part of [panel, kinds, samples.parentElement]) part.hidden = true;
  }

  /** Take the operator whose name was typed to its end. */
  function leave() {
    const name = input.value.trim();
    collapse();
    if (all.has(name)) choose({ name });
    else clear(`The record has no operator named ${cut(name)}. Type a part of its name, and choose from the list.`);
  }

  function collapse() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    activate(null);
  }

  function activate(option) {
    active?.classList.remove("active");
    active = option ?? null;
    active?.classList.add("active");
    active?.scrollIntoView({ block: "nearest" });
    if (active) input.setAttribute("aria-activedescendant", active.id);
    else input.removeAttribute("aria-activedescendant");
  }

  function pick(name) {
    collapse();
    note.textContent = "";
    choose({ name });
    input.value = name;
  }

  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => list.hidden && expand(""));
  input.addEventListener("input", () => {
    clear();
    expand(input.value.trim());
  });
  input.addEventListener("blur", () => (input.value === chosen.name && !panel.hidden ? collapse() : leave()));
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (step) {
      if (list.hidden) expand("");
      else activate(active?.[step] ?? (step.startsWith("next") ? list.firstElementChild : list.lastElementChild));
    } else if (event.key === "Enter") {
      if (active && !list.hidden) pick(active.textContent);
      else leave();
    } else if (event.key === "Escape" && (panel.hidden || !list.hidden)) pick(chosen.name);
    else return;
    event.preventDefault();
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
  list.addEventListener("click", (event) => event.target.id && pick(event.target.textContent));

  // The rest of the form: what is recorded of the operator, and a device for each tensor.
  const [samples, kinds, tensors] = [part("select"), part(".explorer__kinds"), part(".explorer__tensors")];

  function choose(wanted, write = true) {
    const focused = document.activeElement?.id;
    chosen = settled(all, wanted, chosen);
    const { name, sample, kind, places } = chosen;
    input.value = name;
    samples.replaceChildren(
      ...all.get(name).map((one, number) => {
        const option = element("option", { value: one.number }, `${number + 1}: ${one.shapes.map(size).join(", ")}`);
        option.selected = one === sample;
        return option;
      })
    );
    panel.hidden = false;
    samples.parentElement.hidden = all.get(name).length < 2;
    kinds.replaceChildren(
      element("legend", {}, "How it is called"),
      ...[...sample.kinds.keys()].map((one) => radio("kind", one, KINDS[one][0], one === kind, KINDS[one][1]))
    );
    kinds.hidden = sample.kinds.size < 2;
    const labels = sample.shapes.map((shape, at) => [label(sample, at), size(shape)]);
    if (kind === "out") labels.push(["out", ""]);
    tensors.replaceChildren(
      ...labels.map(([of, shape], at) =>
        element(
          "fieldset",
          { class: "explorer__tensor", "data-at": at },
          element("legend", {}, element("code", {}, of), ` ${shape}`),
          ...data.devices.map((device, index) => radio(`tensor-${at}`, index, device, places[at] === index, "", device))
        )
      )
    );
    if (focused) document.getElementById(focused)?.focus();
    const link = linkTo(chosen, data);
    if (write) history.replaceState(null, "", link);
    show(answer(data, sample, kind, places), link);
  }

  function show(found, link) {
    const { sample, kind, places } = chosen;
    const { code } = sample.kinds.get(kind);
    const line = code && filled(code, places.map((at) => data.devices[at]));
    const nodes = [verdict(found, because(found))];
    if (found.error) nodes.push(element("pre", {}, element("code", {}, `${found.error}: ${found.message}`)));
    if (found.id) {
      const page = new URL(`errors/${found.id.toLowerCase()}/`, SITE);
      const further = [element("a", { href: page }, `Causes and fixes (${found.id})`)];
      const run = () => element("a", { href: new URL(found.lesson, SITE) }, `lesson ${found.lesson.match(/[0-9]+/u)}`);
      if (found.lesson) further.push(", or see it happen in ", run());
      nodes.push(element("p", {}, ...further));
    }
    if (line && !found.missing) nodes.push(element("pre", { class: "explorer__code" }, element("code", {}, line)));
    const share = [line && !found.missing && ["Copy this line", line], ["Copy a link", new URL(link, location).href]];
    const buttons = share.filter(Boolean).map(([text, copied]) => copier(text, copied));
    nodes.push(element("p", { class: "explorer__copy" }, ...buttons));
    if (found.why) nodes.push(inside(found));
    panel.replaceChildren(...nodes);
    panel.dataset.outcome = found.ok ? "ok" : found.error ? "error" : "missing";
    spoken.textContent = `${nodes[0].textContent} ${found.message ?? ""}`;
  }

  /** In one line, why it runs or where the tensors are that do not go together. */
  function because({ ok, missing, why }) {
    if (missing) return missing;
    if (ok) return RUNS[why[0]?.rule] ?? "";
    const { sample, places } = chosen, groups = new Map();
    places.forEach((at, tensor) => groups.set(at, [...(groups.get(at) ?? []), `\`${label(sample, tensor)}\``]));
    if (groups.size === 1) return `All tensors are on ${data.devices[places[0]]}.`;
    const [first, ...others] = [...groups].map(([at, names]) => [names, `on ${data.devices[at]}`]);
    const parts = [`${joined(first[0])} ${first[0].length > 1 ? "are" : "is"} ${first[1]}`];
    return `${[...parts, ...others.map(([names, on]) => `${joined(names)} ${on}`)].join(", ")}.`;
  }

  /** The reasons with their places in PyTorch's source, folded: they are for who works on PyTorch. */
  function inside(found) {
    const reasons = found.why.flatMap(({ says, links }) => {
      const sources = links.map(([text, href]) => element("li", {}, element("a", { href }, element("code", {}, text))));
      const list = element("ul", { class: "explorer__sources", "aria-label": "Source" }, ...sources);
      return [element("p", {}, ...marked(says)), ...(sources.length ? [list] : [])];
    });
    return element("details", {}, element("summary", {}, "In PyTorch's source"), ...through(found), ...reasons);
  }

  /** Which operator refuses, if another than what is called: a message names the arguments of that one. */
  function through({ error, message, why: [{ op }] }) {
    const own = chosen.name.split(" ")[0].split(".").pop();
    const inner = op.split(".")[0];
    if (!error || !op || chosen.kind === "backward" || inner.replace(/_$/u, "").endsWith(own)) return [];
    const names = / got \w+ is on /u.test(message) ? ` The argument in the message is one of \`${op}\`.` : "";
    return [element("p", {}, ...marked(`\`${chosen.name}\` calls \`${op}\`.${names}`))];
  }

  function restore() {
    const { wanted, wrong } = parsed(location.hash.slice(1), all, data);
    note.textContent = wrong;
    choose(wanted, !wrong);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", ({ target }) => {
    note.textContent = "";
    if (target === samples) choose({ sample: Number(target.value) });
    else if (target.name === "kind") choose({ kind: target.value });
    else if (target.type === "radio") put(Number(target.name.slice(7)), Number(target.value));
  });
  tensors.addEventListener("keydown", (event) => {
    const [to, tensor] = [KEYS[event.key.toLowerCase()], event.target.closest("[data-at]")];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    put(Number(tensor.dataset.at), to);
    document.getElementById(`tensor-${tensor.dataset.at}-${to}`).focus();
  });
  const put = (at, device) => choose({ places: chosen.places.map((was, index) => (index === at ? device : was)) });
  for (const button of explorer.querySelectorAll("[data-choice]"))
    button.addEventListener("click", () => (location.hash = button.dataset.choice));
  for (const name of document.querySelectorAll("[data-operator]"))
    if (all.has(name.dataset.operator)) {
      const link = element("a", { href: `#op=${encodeURIComponent(name.dataset.operator)}` }, ...name.childNodes);
      name.replaceChildren(link);
    }
  addEventListener("hashchange", () => {
    if (!location.hash.startsWith(LINK)) return;
    restore();
    explorer.scrollIntoView();
  });
  form.hidden = false;
  note.textContent = "";
  if (location.hash.startsWith(LINK)) restore();
  else choose(parsed(START, all, data).wanted, false);
}

/** What is chosen: what is wanted, as far as it is recorded, and of the rest what was chosen before. */
function settled(all, wanted, before) {
  const name = wanted.name ?? before.name;
  const samples = all.get(name);
  const same = before && name === before.name;
  const number = wanted.sample ?? (same ? before.sample.number : null);
  const asked = wanted.kind ?? before?.kind ?? "call";
  const sample =
    samples.find((one) => one.number === number) ??
    samples.find(({ kinds }) => kinds.has(asked)) ?? samples[0];
  const kind = sample.kinds.has(asked) ? asked : [...sample.kinds.keys()][0];
  const count = sample.shapes.length + (kind === "out");
  // At first the first tensor is on the CPU, as an input that was not moved is.
  const fresh = Array.from({ length: count }, (_, at) => (count > 1 && at === 0 ? 0 : 1));
  const kept = wanted.places ?? (same ? before.places : []);
  const places = fresh.map((device, at) => kept[at] ?? device);
  return { name, sample, kind, places };
}

/** What a link asks for, and a sentence if that is not to be had. */
function parsed(hash, all, data) {
  const asked = new URLSearchParams(hash);
  const name = asked.get("op");
  if (!all.has(name)) {
    const { wanted } = parsed(START, all, data);
    return { wanted, wrong: `This link names an operator that is not in the record: ${cut(name)}. Here is another.` };
  }
  const [number, kind, on] = [asked.get("sample"), asked.get("kind") ?? "call", asked.get("on")];
  const samples = all.get(name).filter(({ kinds }) => kinds.has(kind));
  const sample = number === null ? samples[0] : samples.find((one) => String(one.number) === number);
  if (!sample) return { wanted: { name }, wrong: `This link asks for a case of ${name} that is not in the record.` };
  const wanted = { name, kind, sample: sample.number };
  if (on === null) return { wanted, wrong: "" };
  const places = on.split(",").map((device) => data.devices.indexOf(device));
  const count = sample.shapes.length + (kind === "out");
  if (places.length !== count || places.includes(-1)) {
    const devices = data.devices.join(", ");
    return { wanted, wrong: `This link does not place the ${count} tensors of ${name} on ${devices}.` };
  }
  return { wanted: { ...wanted, places }, wrong: "" };
}

function linkTo({ name, sample, kind, places }, data) {
  const on = places.map((at) => data.devices[at]).join(",");
  return `#op=${encodeURIComponent(name)}&sample=${sample.number}&kind=${kind}&on=${on}`;
}

/** The names that have all the letters, the best first: whole, then at the beginning of a part, then anywhere. */
function matching(names, wanted) {
  const words = wanted.toLowerCase().split(/\s+/u);
  const rank = (name) => {
    const last = name.split(".").pop();
    if (name === wanted || last === wanted) return 0;
    if (last.startsWith(words[0])) return 1;
    return name.split(/[._ ]/u).some((piece) => piece.startsWith(words[0])) ? 2 : 3;
  };
  const found = names.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
  return found.sort((one, other) => rank(one) - rank(other) || one.length - other.length);
}

function verdict({ error, missing, ok }, because) {
  const line = element("p", { class: "explorer__verdict" });
  const runs = ["Runs.", "Runs, result on"][ok?.length] ?? "Runs, results on";
  const outcome = error ? "Fails:" : missing ? "Not recorded." : runs;
  line.append(element("strong", {}, outcome), " ");
  if (ok?.length) {
    const each = ok.every((device) => device === ok[0]) ? [ok[0]] : ok;
    each.forEach((device, at) => line.append(...(at ? [", "] : []), chip(device)));
    line.append(". ");
  }
  line.append(...marked(because));
  return line;
}

const joined = (parts) => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]);

function copier(text, copied) {
  const button = element("button", { type: "button", class: "md-button" }, text);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(copied);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying is not allowed here";
    }
    setTimeout(() => (button.textContent = text), 2_000);
  });
  return button;
}

function radio(name, value, text, checked, title, device) {
  const id = `${name}-${value}`;
  const input = element("input", { type: "radio", name, value, id });
  input.checked = checked;
  const attributes = { for: id, class: device ? `explorer__device ${colour(device)}` : "explorer__kind" };
  if (title) attributes.title = title;
  const shown = element("label", attributes, ...(device ? [sign(device)] : []), text);
  return element("span", {}, input, shown);
}

const chip = (device) => element("span", { class: `explorer__chip ${colour(device)}` }, sign(device), device);
const colour = (device) => device.replace(":", "-");
const size = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
const label = ({ names }, at) => (at < names.length ? names[at] || `tensor ${at + 1}` : "out");
const cut = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
const filled = (code, devices) => code.replace(/\{\}/gu, () => (devices.length > 1 ? devices.shift() : devices[0]));
const marked = (text) => text.split(/`([^`]+)`/u).map((piece, at) => (at % 2 ? element("code", {}, piece) : piece));

/** A device's shape, as in the placement pictures: it is known without its colour. */
function sign(device) {
  const paths = {
    cpu: "M2 2h12v12H2z",
    "cuda:0": "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1z",
    "cuda:1": "M8 1l8 14H0z",
  };
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[device]);
  svg.append(path);
  return svg;
}

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children); // a string becomes text
  return made;
}
