// The alternatives of a question as buttons. A wrong one says why not and keeps what happens folded; the right one unfolds
// it. What was predicted, and that a page was read to its end, is kept in this browser only.

const KEY = `samedevice-predicted:${location.pathname}`;
const questions = [...document.querySelectorAll("ol.alternatives")];
const predicted = new Set((localStorage.getItem(KEY) ?? "").split(",").filter(Boolean).map(Number));
const total = document.createElement("p");

function offer(list, index) {
  const said = document.createElement("p");
  said.className = "why";
  said.role = "status"; // spoken where a screen reader is on
  list.after(said);
  const answer = said.nextElementSibling;
  for (const item of list.children) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...item.childNodes);
    item.append(button);
    button.addEventListener("click", () => {
      const isRight = item.dataset.why === "";
      item.className = isRight ? "right" : "wrong";
      said.replaceChildren(...(isRight ? ["Right."] : written(`No. ${item.dataset.why}`)));
      if (!isRight) return;
      answer.open = true;
      predicted.add(index);
      localStorage.setItem(KEY, [...predicted].join());
      count();
    });
    if (predicted.has(index) && item.dataset.why === "") item.className = "right";
  }
}

/** A sentence with code between backticks, as nodes. */
const written = (sentence) =>
  sentence.split("`").map((part, place) => {
    if (place % 2 === 0) return part;
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });

const count = () => (total.textContent = `You predicted ${predicted.size} of ${questions.length} on this page.`);

questions.forEach(offer);
if (questions.length) {
  total.className = "predicted";
  document.getElementById("remember")?.before(total);
  count();
}

const end = document.getElementById("remember");
const read = ([{ isIntersecting }]) => isIntersecting && localStorage.setItem(`samedevice-read:${location.pathname}`, "read");
if (end) new IntersectionObserver(read).observe(end);
