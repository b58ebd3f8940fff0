// What a reader has solved, kept in this browser only. A puzzle to repair gets a box to tick; a prediction counts when it
// is right (predict.js). Both keep, for each page, the numbers of its puzzles from 0. The page of all puzzles shows them.

const key = (page) => `samedevice-predicted:${page}`;
const solved = (page) => new Set((localStorage.getItem(key(page)) ?? "").split(",").filter(Boolean).map(Number));

const mine = solved(location.pathname);
for (const line of document.querySelectorAll(".puzzle")) {
  const number = Number(line.dataset.puzzle);
  const [label, box] = [document.createElement("label"), document.createElement("input")];
  box.type = "checkbox";
  box.checked = mine.has(number);
  box.addEventListener("change", () => {
    if (box.checked) mine.add(number);
    else mine.delete(number);
    localStorage.setItem(key(location.pathname), [...mine].join());
  });
  label.append(box, "I solved it");
  line.append(label);
}

const puzzles = document.querySelector(".puzzles");
function show() {
  let [count, all] = [0, 0];
  for (const list of puzzles.querySelectorAll("ol"))
    [...list.children].forEach((item, number) => {
      const isSolved = solved(item.querySelector("a").pathname).has(number);
      item.querySelector("small")?.remove();
      item.classList.toggle("solved", isSolved);
      if (isSolved) item.append(Object.assign(document.createElement("small"), { textContent: "\u2713 solved" }));
      count += isSolved;
      all += 1;
    });
  total.textContent = `You solved ${count} of ${all}. That is kept in this browser only.`;
}
const total = document.createElement("p");
if (puzzles) {
  puzzles.before(total);
  addEventListener("pageshow", show); // on the way back from a puzzle, too
}
