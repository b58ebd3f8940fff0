// What Material makes in the browser and a screen reader or a keyboard cannot use: a copy button for each code block, a
// landmark whose name must differ from the others', and a box for each table, which scrolls where the table is too wide.
new MutationObserver(() => {
  document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav) =>
    nav.setAttribute("aria-label", "Actions for " + nav.closest("pre").id.replaceAll("_", " ").trim())
  );
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((box) => (box.tabIndex = 0));
}).observe(document.body, { childList: true, subtree: true });
