// A button below each diff that copies the lines as they are to be: those that come and those that stay, without the
// signs before them. Material does the copying, and says that it did.

const DIFFS = "pre.change:not([data-has-copy])";

function offer(diff) {
  diff.dataset.hasCopy = "";
  const text = fixed(diff.textContent.split("\n"));
  if (!text) return; // it only says what to do, or what to delete
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "copy-fix", textContent: label(text) });
  button.dataset.clipboardText = text;
  diff.after(button);
}

/** Lines of a diff without their signs; of commands, those that are typed after "$". */
function fixed(lines) {
  const commands = lines.filter((line) => line.startsWith("$ "));
  const kept = commands.length ? commands : lines.filter((line) => /^(\+ | {2})/u.test(line));
  return kept.map((line) => line.slice(2)).join("\n");
}

const label = (text) => `Copy the fixed ${text.includes("\n") ? "lines" : "line"}`;

const all = () => document.querySelectorAll(DIFFS).forEach(offer);
new MutationObserver(all).observe(document.body, { childList: true, subtree: true });
all();
