// The page that was probably meant, on the page that is shown for a wrong address. People come with the name of a file
// (errors/SD001.md, notebooks/01-two-tensors.ipynb), in capitals, with the full stop of a sentence, or with a number.

const SITE = new URL("../", import.meta.url);

/** Of `pages`, paths such as "errors/sd001/", the one that `path`, which does not stand among them, most probably means. */
export function meant(path, pages) {
  const wanted = plain(path);
  const last = (words) => words.split("/").pop();
  const message = wanted.match(/(?:sd|errors\/)0*(\d{1,3})$/u)?.[1].padStart(3, "0");
  const lesson = last(wanted).match(/^(?:lesson-?)?0*(\d{1,2})(?!\d)/u)?.[1].padStart(2, "0");
  return (
    pages.find((page) => plain(page) === wanted) ??
    pages.find((page) => wanted && last(plain(page)) === last(wanted)) ??
    pages.find((page) => (message ? page === `errors/sd${message}/` : page.startsWith(`notebooks/${lesson}-`)))
  );
}

/** A path without what differs from one way of writing it to another. */
function plain(path) {
  const words = decoded(path).toLowerCase().replace(/[\s_]+/gu, "-").replace(/^docs\/|[^a-z\d]+$/gu, "");
  return words.replace(/(?:^|\/)index(?:\.\w+)?$|\.(?:html?|md|ipynb)$/u, "");
}

function decoded(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function suggest(place) {
  const answer = await fetch(new URL("sitemap.xml", SITE));
  const sitemap = new DOMParser().parseFromString(await answer.text(), "text/xml");
  const addresses = [...sitemap.querySelectorAll("loc")].map((loc) => loc.textContent);
  const home = addresses.reduce((one, other) => (other.length < one.length ? other : one));
  const path = location.pathname.slice(SITE.pathname.length);
  const page = meant(path, addresses.map((address) => address.slice(home.length)));
  if (page === undefined) return;
  const link = document.createElement("a");
  link.href = new URL(page + location.hash, SITE);
  link.textContent = page || "the home page";
  place.append("Did you mean ", link, "?");
}

const place = globalThis.document?.querySelector(".not-found");
if (place) {
  suggest(place);
  const search = document.querySelector(".not-found__search");
  search.hidden = false;
  search.querySelector("button").addEventListener("click", () => import("./search.js").then(({ searchFor }) => searchFor()));
}
