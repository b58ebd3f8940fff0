// A button below each block that copies it, as what it is: the reader's own lines or an example as they are to be, those
// that come and those that stay, without the signs before them; or a command. Material does the copying, and says so.

// In a diagnosis an example has none: it is not what the reader is to take. Commands have theirs there already.
const BLOCKS = ":is(pre.change, pre.example:not(.diagnosis *), .command > pre:last-child):not([data-has-copy])";

function offer(block) {
  block.dataset.hasCopy = "";
  const isCommand = block.parentElement.matches(".command");
  const text = isCommand ? block.textContent : fixed(block.textContent.split("\n"));
  if (!text) return; // it only says what to do, or what to delete
  const button = document.createElement("button");
  const label = isCommand ? "Copy" : block.matches(".example") ? "Copy the example" : `Copy the fixed ${lines(text)}`;
  Object.assign(button, { type: "button", className: "copy-fix", textContent: label });
  if (isCommand) button.ariaLabel = `Copy ${text}`;
  button.dataset.clipboardText = text;
  block.after(button);
}

/** Lines of a diff as they are to be, without their signs. */
const fixed = (diff) => diff.filter((line) => /^(\+ | {2})/u.test(line)).map((line) => line.slice(2)).join("\n");

const lines = (text) => (text.includes("\n") ? "lines" : "line");

const all = () => document.querySelectorAll(BLOCKS).forEach(offer);
new MutationObserver(all).observe(document.body, { childList: true, subtree: true });
all();
