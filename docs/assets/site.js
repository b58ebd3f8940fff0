// What Material's pages lack for those who have no mouse, no keyboard or no sight of the screen.

// Search looks when a key goes up; text pasted from a menu or on a phone comes without one.
document.addEventListener("input", (event) => {
  if (event.target.matches("[data-md-component=search-query]")) event.target.dispatchEvent(new Event("keyup"));
});

// Made in the browser: a copy button for each code block, a landmark whose name must differ from the others', and a box
// for each table, which scrolls where the table is too wide.
new MutationObserver(() => {
  document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav) =>
    nav.setAttribute("aria-label", "Actions for " + nav.closest("pre").id.replaceAll("_", " ").trim())
  );
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((box) => (box.tabIndex = 0));
}).observe(document.body, { childList: true, subtree: true });

// Code that scrolls sideways is a stop of the Tab key. Material sees to that only where a pointer can hover, and takes it
// away elsewhere.
if (!matchMedia("(hover)").matches) {
  const see = (records) => {
    for (const { target } of records)
      if (target.scrollWidth > target.clientWidth && !target.hasAttribute("tabindex")) target.tabIndex = 0;
  };
  const [sizes, marks] = [new ResizeObserver(see), new MutationObserver(see)];
  for (const code of document.querySelectorAll("pre > code")) {
    sizes.observe(code);
    marks.observe(code, { attributeFilter: ["tabindex"] });
  }
}
