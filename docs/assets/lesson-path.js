// On the list of lessons, how far a reader came. predict.js keeps it, in this browser only, by the page's address.

for (const standing of document.querySelectorAll(".standing")) {
  const item = standing.closest("li");
  const { pathname } = item.querySelector("a");
  const kept = (key) => localStorage.getItem(`samedevice-${key}:${pathname}`) ?? "";
  const predicted = kept("predicted").split(",").filter(Boolean).length;
  const said = [kept("read"), predicted && `predicted ${predicted} of ${standing.dataset.questions}`];
  standing.textContent = said.filter(Boolean).join(", ");
  item.classList.toggle("read", Boolean(kept("read")));
}
