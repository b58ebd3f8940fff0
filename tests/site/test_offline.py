"""The zip of `make offline`: opened from a disk, everything works that works on the published site."""

import json
import re
import zipfile
from urllib.parse import unquote, urlsplit

import pytest
from mkdocs.exceptions import PluginError
from playwright.sync_api import expect
from tests.site.conftest import ROOT, Tags, answered, build

import offline as tool
from site_build.offline import plain

ERROR = "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'"


@pytest.fixture(scope="module")
def unzipped(tmp_path_factory):
    """The folder that the zip holds."""
    folder = tmp_path_factory.mktemp("offline")
    built = build(ROOT, folder / "site", OFFLINE="true")
    assert built.returncode == 0, built.log
    tool.pack(built.folder, folder / "site.zip")
    with zipfile.ZipFile(folder / "site.zip") as packed:
        assert packed.testzip() is None
        packed.extractall(folder / "unzipped")
    (inside,) = (folder / "unzipped").iterdir()
    return inside


@pytest.fixture(scope="module")
def pages(unzipped):
    """The tags of each page, by its path."""
    return {path: Tags(path.read_text(encoding="utf-8")).found for path in sorted(unzipped.rglob("*.html"))}


@pytest.fixture
def open_file(browser, unzipped):
    """Open a page of the folder; afterwards, nothing but its files was asked for, and no script complained."""
    wrong = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.on("request", lambda request: request.url.startswith(unzipped.as_uri()) or wrong.append(request.url))
    # What a page was still loading when it was left is given up; what is not there fails otherwise.
    context.on("requestfailed", lambda request: "ABORTED" in request.failure or wrong.append(request.url))
    context.on("response", lambda response: answered(response) or wrong.append(response.url))
    context.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    context.on("weberror", lambda error: wrong.append(str(error.error)))

    def open_it(path):
        page = context.new_page()
        page.goto(f"{unzipped.as_uri()}/{path}")
        return page

    yield open_it
    context.close()
    assert wrong == []


def test_it_has_every_page_and_each_names_its_place_on_the_published_site(pages, site):
    canonical = [tag["href"] for found in pages.values() for _, tag in found if tag.get("rel") == "canonical"]
    assert sorted(canonical) == sorted(re.findall("<loc>(.*?)</loc>", site.read("sitemap.xml")))
    assert len(pages) == len(canonical)


def test_every_address_in_a_page_and_in_the_search_is_that_of_a_file(pages, unzipped):
    entries = json.loads((unzipped / "search/search_index.js").read_text("utf-8").removeprefix("var __index = "))
    named = {(unzipped / "index.html", entry["location"]) for entry in entries["docs"]}
    named |= {
        (page, tag[key]) for page, found in pages.items() for _, tag in found for key in ("href", "src") if key in tag
    }
    inside = {(page, address) for page, address in named if not re.match("[a-z]+:", address)}
    assert len(inside) > len(pages)
    files = {
        (page, (page.parent / unquote(urlsplit(address).path)) if urlsplit(address).path else page)
        for page, address in inside
    }
    assert [(page.name, file) for page, file in files if not file.is_file()] == []


def test_it_holds_nothing_that_only_a_host_or_a_search_engine_reads(unzipped, pages):
    names = {path.relative_to(unzipped).as_posix() for path in unzipped.rglob("*") if path.is_file()}
    assert "index.html" in names
    assert not names & {
        "404.html",
        "sitemap.xml",
        "sitemap.xml.gz",
        "search/search_index.json",
        "assets/catalog.json",
        "assets/explorer.json.gz",
        "assets/not-found.js",
    }
    assert not [name for name in names if name.endswith((".map", ".py"))]
    assert not [tag for found in pages.values() for _, tag in found if tag.get("type") == "module"]


def test_the_paste_box_diagnoses_and_its_links_lead_to_files(open_file):
    page = open_file("index.html")
    page.get_by_label("Your error").fill(ERROR)
    page.get_by_role("link", name="More about SD055").click()
    expect(page.locator("article h1")).to_contain_text("(SD055)")
    page.go_back()
    page.get_by_label("Your error").fill(ERROR)
    page.locator(".diagnosis").get_by_role("link", name="Run it in lesson 02").first.click()
    page.wait_for_url("**/notebooks/02-unmoved-batches.html#*")


def test_a_link_to_share_leads_to_the_published_site(open_file, site):
    page = open_file("index.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Your error").fill(ERROR)
    page.get_by_role("button", name="Copy a link to share").click()
    page.get_by_text("Link copied.").wait_for()
    published = site.page("").select_one("link[rel=canonical]")["href"]
    assert page.evaluate("navigator.clipboard.readText()").startswith(f"{published}#error=RuntimeError")


def test_search_finds_by_words_and_by_a_pasted_message(open_file):
    page = open_file("notebooks/01-two-tensors.html")
    page.keyboard.press("/")
    page.get_by_text("Type to start searching").wait_for()
    page.keyboard.insert_text("generator")
    page.locator(".md-search-result__link").first.wait_for()
    page.locator("[data-md-component=search-query]").fill("")
    page.keyboard.insert_text(ERROR)
    page.locator(".search-doctor a").click()
    expect(page.locator("article h1")).to_contain_text("(SD055)")


def test_the_explorer_answers_from_the_record_in_its_script(open_file):
    page = open_file("placement-explorer.html#op=mul&on=cuda:0,cpu")
    answer = page.get_by_label("What PyTorch does")
    expect(answer).to_contain_text("Expected all tensors to be on the same device")
    answer.get_by_role("link", name="SD002").click()
    expect(page.locator("article h1")).to_contain_text("(SD002)")


def test_each_notebook_lies_beside_its_page(unzipped):
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert (unzipped / "notebooks" / notebook.name).read_bytes() == notebook.read_bytes()
        assert (unzipped / "notebooks" / f"{notebook.stem}.html").is_file()


@pytest.mark.parametrize("line", ["import * as a from './b.js';", "export default a;", "await import(name);"])
def test_a_script_that_cannot_be_made_plain_fails_the_build(line):
    with pytest.raises(PluginError, match=r"new\.js has what a plain script cannot have"):
        plain("new.js", f"export const a = 1;\n{line}\n")
