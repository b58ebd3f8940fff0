"""Every address in the built site leads somewhere, whoever wrote it: Markdown, a notebook, the catalog, a template.

An address within the site leads to a file of it, and its fragment to an id there; one of a file on the project's GitHub
page to a file of this checkout. What a page loads is of the site: nothing is asked of another host. `mkdocs --strict`
sees the links in Markdown only, and a browser test only the pages that it opens.
"""

import json
import re
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from tests.site.conftest import UPSTREAM

ROOT = Path(__file__).parents[2]
LINKS = {("a", "href"), ("area", "href"), ("form", "action"), ("meta", "content")}
# Hands a text over to the doctor, which is no place in the page.
PASTED = "error="


@pytest.fixture(scope="module")
def published(tags, site) -> str:
    """The address of the home page, which canonical links and 404.html give in full."""
    canonical = [tag for name, tag in tags[site.folder / "index.html"] if tag.get("rel") == "canonical"]
    return canonical[0]["href"]


@pytest.fixture(scope="module")
def whole(site, published):
    """An address in a page, in full, as a browser reads it on the published site."""
    return lambda page, address: urljoin(
        published + page.relative_to(site.folder).as_posix().removesuffix("index.html"), address
    )


@pytest.fixture(scope="module")
def wrong_with(site, tags, published, whole):
    """What is wrong with an address in a page, as a sentence; "", if nothing is or it is another host's."""
    ids = {path: {tag["id"] for _, tag in found if "id" in tag} for path, found in tags.items()}
    host = urljoin(published, "/")

    def judge(page: Path, address: str) -> str:
        full = whole(page, address)
        if not full.startswith(published):
            return f"{address} leaves the site's folder" if full.startswith(host) else ""
        parts = urlsplit(full.removeprefix(published))
        file = site.folder / unquote(parts.path)
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            return f"{address} leads to no file"
        if parts.fragment and not parts.fragment.startswith(PASTED) and unquote(parts.fragment) not in ids[file]:
            return f"{address} leads to no id"
        return ""

    return judge


def in_page(found, only):
    """Each address that a page's tags name, for a reader to follow or for the browser to load."""
    for name, tag in found:
        for attribute in ("href", "src", "xlink:href", "action", "poster", "data", "content"):
            value = tag.get(attribute)
            if attribute == "content" and not re.match("https?:", value or ""):
                continue
            if value is not None and ((name, attribute) in LINKS) == (only == "links"):
                yield name, tag, value
        for part in filter(None, tag.get("srcset", "").split(",")):
            if only == "loads":
                yield name, tag, part.split()[0]


def test_each_link_of_each_page_leads_to_a_file_and_an_id_of_the_site(tags, site, wrong_with):
    links = [(page, address) for page, found in tags.items() for _, _, address in in_page(found, "links")]
    assert {page for page, _ in links} == set(tags)
    wrong = {(page.relative_to(site.folder).as_posix(), wrong_with(page, address)) for page, address in links}
    assert {(page, why) for page, why in wrong if why} == set()


def test_each_place_that_the_search_and_the_sitemap_name_is_there(site, wrong_with):
    home = site.folder / "index.html"
    entries = [entry["location"] for entry in json.loads(site.read("search/pages.json"))["docs"]]
    pages = re.findall("<loc>(.*?)</loc>", site.read("sitemap.xml"))
    assert entries and pages
    assert {why for address in entries + pages if (why := wrong_with(home, address))} == set()


def test_each_file_on_github_that_a_page_links_is_in_this_checkout(tags):
    linked, wrong = set(), []
    for page, found in tags.items():
        for _, _, address in in_page(found, "links"):
            file = re.search(
                rf"{UPSTREAM}/(?:blob|tree|raw|edit)/(?:main|colab)/([^?#]*)(?:#L(\d+))?", unquote(address)
            )
            if file:
                linked.add(file[1])
                path = ROOT / file[1]
                if not path.exists() or (file[2] and int(file[2]) > len(path.read_text("utf-8").splitlines())):
                    wrong.append((page.parent.name, address))
            elif re.search(rf"//github.com/{UPSTREAM}\b(?!$|/issues/new\b)", address):
                wrong.append((page.parent.name, address))
    assert linked >= {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert wrong == []


def test_what_pages_load_is_of_the_site_and_there(tags, whole, wrong_with, published):
    wrong = []
    for page, found in tags.items():
        loads = list(in_page(found, "loads"))
        assert {name for name, _, _ in loads} >= {"link", "script"}, page
        for _, tag, address in loads:
            own = whole(page, address).startswith((published, "data:image/"))
            if not own or wrong_with(page, address):
                wrong.append((page.parent.name, tag))
    assert wrong == []


def test_what_stylesheets_and_our_scripts_load_is_of_the_site_and_there(site, tags):
    sheets = {path: path.read_text("utf-8") for path in site.folder.rglob("*.css")}
    sheets |= {page: "\n".join(tag["style"] for _, tag in found if "style" in tag) for page, found in tags.items()}
    sheets |= {path: path.read_text("utf-8") for path in site.folder.rglob("*.svg")}
    named = [
        (file, address)
        for file, text in sheets.items()
        for address in re.findall(r"""(?:url\(|@import|xlink:href=)\s*["']?([^"')]+)""", text)
    ]
    ours = {path: path.read_text("utf-8") for path in (site.folder / "assets").glob("*.js")}
    imports = r"""(?:(?:\}|\*|\bas \w+) from|\bimport\(?)\s*["']([^"']+)["']"""
    named += [(file, address) for file, text in ours.items() for address in re.findall(imports, text)]
    assert any(file.suffix == ".css" for file, _ in named) and any(file.suffix == ".js" for file, _ in named)
    wrong = [
        (file.name, address)
        for file, address in named
        if not address.startswith(("data:", "#")) and not (file.parent / urlsplit(address).path).is_file()
    ]
    assert wrong == []
    # Addresses of other hosts are for readers to follow: none is in a script, but SVG's name, which looks like one.
    hosts = r"(?<!\w)(?:https?:)?//(?!www\.w3\.org/2000/svg\b)[\w-]+\.\w[^\s\"'`)]*"
    assert {(file.name, *re.findall(hosts, text)) for file, text in ours.items() if re.search(hosts, text)} == set()


def test_materials_script_has_no_cause_to_ask_the_hosts_that_it_knows(site, tags):
    (bundle,) = (site.folder / "assets/javascripts").glob("bundle.*.min.js")
    hosts = set(re.findall(r"https://[\w.${}]+(?=/(?:repos|users|api|mermaid))", bundle.read_text("utf-8")))
    assert hosts == {"https://api.github.com", "https://${e}", "https://unpkg.com"}
    causes = [
        (page.parent.name, tag)
        for page, found in tags.items()
        for _, tag in found
        if tag.get("data-md-component") == "source" or "mermaid" in tag.get("class", "").split()
    ]
    assert causes == []
