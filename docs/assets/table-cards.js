// On a phone, a table of three columns or more becomes a list of cards, each value below its column's name: site.css has
// the looks. Without scripts it stays a table, and scrolls sideways.

for (const table of document.querySelectorAll("article table:not([class])")) {
  const names = [...table.querySelectorAll("thead th")].map((name) => name.textContent.trim());
  if (names.length < 3 || table.closest(".output-html, .explorer-table")) continue;
  table.dataset.cards = "";
  // A browser takes what is no longer laid out as a table for none; the roles keep it one to a screen reader.
  const roles = { table: [table], rowgroup: table.querySelectorAll("thead, tbody"), row: table.rows };
  for (const [role, elements] of Object.entries(roles)) for (const element of elements) element.setAttribute("role", role);
  for (const row of table.rows)
    [...row.cells].forEach((cell, column) => {
      cell.setAttribute("role", cell.tagName === "TH" ? "columnheader" : "cell");
      if (cell.tagName === "TD") cell.dataset.label = names[column];
    });
}
