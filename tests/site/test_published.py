"""What search engines and platforms read of the published site: sitemap, canonical addresses, link previews."""

import html
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image
from tests.site.conftest import ROOT, UPSTREAM

import pictures

KB = 1000
CARDS = {
    "card-fix": ("errors/", "causes/"),
    "card-learn": ("lessons/", "notebooks/"),
    "card-test": ("test-without-a-gpu/", "simulated-cuda/"),
}


def canonical(found):
    return [tag["href"] for name, tag in found if name == "link" and tag.get("rel") == "canonical"]


def metadata(found):
    """Of each `<meta>` that has one, the name or property, and the content."""
    meta = [tag for name, tag in found if name == "meta"]
    return [(tag[key], tag["content"]) for tag in meta for key in ("name", "property") if key in tag]


@pytest.fixture(scope="module")
def pages(site, tags):
    """The tags of each page, by its place; without the page for addresses that have none."""
    return {place: tags[site.folder / place / "index.html"] for place in site.pages + site.errors + site.causes}


@pytest.fixture(scope="module")
def root():
    """Where the project's pages are published: under a path, since the repository is one of many of its owner."""
    owner, name = UPSTREAM.split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def test_the_sitemap_has_each_page_once_by_its_canonical_address_and_the_day_of_its_change(site, pages, root):
    sitemap = ElementTree.fromstring(site.read("sitemap.xml"))
    (space,) = {element.tag.partition("}")[0] + "}" for element in sitemap.iter()}
    assert space == "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert {element.tag.removeprefix(space) for element in sitemap.iter()} == {"urlset", "url", "loc", "lastmod"}
    listed = [element.text for element in sitemap.iter(f"{space}loc")]
    assert sorted(listed) == sorted(root + place for place in pages)
    assert [canonical(found) for found in pages.values()] == [[root + place] for place in pages]
    dated = {url.findtext(f"{space}loc"): url.findtext(f"{space}lastmod") for url in sitemap.iter(f"{space}url")}
    lesson = "notebooks/02-unmoved-batches"
    log = ["git", "log", "-1", "--format=%cs", "--", f"{lesson}.ipynb"]
    day = subprocess.run(log, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    assert dated[f"{root}{lesson}/"] == day
    assert dated[f"{root}errors/sd001/"] and dated[f"{root}find-the-tensor/"]


def test_each_page_has_one_link_preview_of_its_own_title_description_and_address(site, pages, root):
    titles = set()
    for place, found in pages.items():
        meta = metadata(found)
        names = [name for name, _ in meta]
        assert len(names) == len(set(names)), place
        told = dict(meta)
        title = re.search("<title>(.*?)</title>", site.read(f"{place}index.html"))[1]
        assert html.unescape(title) in (told["og:title"], f"{told['og:title']} - {told['og:site_name']}")
        assert told["og:description"] == told["description"], place
        assert told["og:url"] == root + place
        assert told["og:type"] == ("article" if place else "website")
        assert told["og:site_name"] == "Same Device"
        assert told["twitter:card"] == "summary_large_image"
        (part,) = [name for name, of_it in CARDS.items() if place in of_it or place.startswith(of_it)] or ["card"]
        assert told["og:image"] == f"{root}assets/{part}.png"
        assert told["og:image:alt"]
        titles.add(told["og:title"])
    assert len(titles) == len(pages)


@pytest.mark.parametrize("name", ["card", *pictures.CARDS])
def test_the_pictures_of_the_link_previews_are_of_the_size_that_they_name_and_light(site, pages, name):
    told = dict(metadata(pages[""]))
    file = site.folder / f"assets/{name}.png"
    with Image.open(file) as picture:
        assert picture.format == "PNG"
        assert picture.size == (int(told["og:image:width"]), int(told["og:image:height"])) == (1200, 630)
        assert picture.text["Source"] == pictures.drawing(), "run `make pictures`"
    assert file.stat().st_size <= 60 * KB


def test_no_page_has_an_address_from_the_root_but_the_one_that_is_shown_at_any_depth(site, tags, root):
    path = "/" + root.split("/", 3)[3]
    for page, found in tags.items():
        addresses = {tag[key] for _, tag in found for key in ("href", "src") if key in tag}
        inside = {address for address in addresses if not re.match(r"[a-z]+:|#", address)}
        from_root = {address for address in inside if address.startswith(path if page.name == "404.html" else "/")}
        assert from_root == (inside if page.name == "404.html" else set()), page
        assert inside


def test_the_page_for_addresses_that_have_none_is_kept_out_of_search_engines(site, tags):
    found = tags[site.folder / "404.html"]
    told = dict(metadata(found))
    assert told["robots"] == "noindex"
    assert canonical(found) == []
    assert not [name for name in told if name.startswith("og:")]
