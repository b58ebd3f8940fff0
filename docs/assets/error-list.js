// The list of all messages: a field above it, in which one types words of a message, and the rows that have them all stay.

const lead = document.querySelector("article .lead");
const rows = [...document.querySelectorAll("article .rows li")].map((row) => [row, plain(row.textContent)]);
const parts = [...document.querySelectorAll("article :is(details, h2, .rows)")];

const label = Object.assign(document.createElement("label"), { className: "filter", textContent: "Words of your message" });
const field = Object.assign(document.createElement("input"), { type: "search", spellcheck: false });
const found = document.createElement("p");
found.role = "status";
label.append(field);
lead.after(label, found);
field.addEventListener("input", filter);
filter(); // what a browser kept when the page was left

function filter() {
  const words = plain(field.value).split(" ");
  let left = 0;
  for (const [row, text] of rows) left += !(row.hidden = !words.every((word) => text.includes(word)));
  const isAll = left === rows.length;
  for (const part of parts) {
    const list = part.matches("h2") ? part.parentElement.querySelector(`#${part.id} ~ :is(.rows, details)`) : part;
    part.hidden = !isAll && (part.matches(".by-topic") || !list?.querySelector("li:not([hidden])"));
    if (part.matches("details:not(.by-topic)")) part.open = !isAll;
  }
  const messages = left === 1 ? "1 message" : `${left} messages`;
  found.textContent = isAll ? "" : left ? messages : "No message has these words. Paste the whole error on the first page.";
}

/** Text as it is compared: small letters, and each number the same, since a message may name another GPU. */
function plain(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").replace(/\d+/gu, "0").trim();
}
