"""Until there is an address, nothing leads to a placeholder's; with an address, everything does."""

import re

import pytest
from tests.site.conftest import NAME, OWNER, ROOT, build

import repository
from repository import PLACEHOLDER
from site_build.unpublished import COPY, LOCAL, settled, settled_page

NOWHERE = f"https://github.com/{PLACEHOLDER}/thing"
SOMEBODYS = "https://github.com/Some.Body/other-thing"


def texts(folder):
    files = (
        path for path in folder.rglob("*") if path.suffix in {".html", ".md", ".json", ".txt", ".xml", ".js", ".ipynb"}
    )
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


@pytest.fixture(scope="module")
def unpublished(tmp_path_factory):
    if OWNER != PLACEHOLDER:
        pytest.skip("The project has an address.")
    built = build(ROOT, tmp_path_factory.mktemp("unpublished") / "site", GITHUB_REPOSITORY=f"{OWNER}/{NAME}")
    assert built.returncode == 0, built.log
    return built


def test_no_file_of_the_site_names_the_placeholder(unpublished, site):
    for built in (unpublished, site):
        assert [name for name, text in texts(built.folder).items() if PLACEHOLDER in text] == []


def test_buttons_say_that_they_lead_nowhere_yet(unpublished):
    for place in ("notebooks/17-data-parallel/", "errors/sd001/", "causes/input_not_moved/"):
        page = unpublished.page(place)
        assert not page.select("a[href*='colab.research'], a[href*='kaggle.com/kernels'], header a[href*='github.com']")
        assert "Run in Colab not published yet" in " ".join(page.select_one("article").get_text().split())
        assert page.select_one("link[rel=canonical]")["href"] == LOCAL + place


def test_a_page_says_once_what_its_commands_stand_for(unpublished):
    pages = {
        place: unpublished.page(place)
        for place in ("find-the-tensor/", "test-without-a-gpu/", "notebooks/01-two-tensors/")
    }
    for place, page in pages.items():
        assert f"pip install -q {COPY}" in page.get_text() or f"pip install {COPY}" in page.get_text(), place
        assert len(page.select("p.unpublished")) == 1, place
    assert f"uses: ./{COPY}" in pages["test-without-a-gpu/"].get_text()


def test_the_box_offers_no_form_and_names_the_copy(unpublished, browser):
    assert 'data-repository=""' in unpublished.read("index.html")


def test_with_an_address_the_same_text_leads_there():
    text = (
        f'%pip install -q "samedevice @ git+{NOWHERE}" {NOWHERE}/blob/main/a.py https://{PLACEHOLDER}.github.io/thing/'
    )
    assert settled(text, NOWHERE, SOMEBODYS) == (
        f'%pip install -q "samedevice @ git+{SOMEBODYS}" {SOMEBODYS}/blob/main/a.py https://some.body.github.io/other-thing/'
    )
    assert settled(text, SOMEBODYS, SOMEBODYS) == text


def test_without_one_a_link_is_its_text():
    page = f'<a class="x" href="{NOWHERE}/blob/main/a.py" title="Go">a <b>file</b></a>, <a href="https://a.b/c">c</a>'
    assert settled_page(page, NOWHERE, NOWHERE) == (
        '<span class="x" title="Not published yet">a <b>file</b></span>, <a href="https://a.b/c">c</a>'
    )
    assert settled(f"[a `b[0]`]({NOWHERE}/c) [d](e)", NOWHERE, NOWHERE) == "a `b[0]` [d](e)"


def test_the_readme_leads_to_pages_of_the_site_and_not_to_their_templates(site):
    readme = (ROOT / "README.md").read_text("utf-8")
    owner, name = repository.held(ROOT)
    places = re.findall(rf"https://{owner.lower()}\.github\.io/{name}/([\w/-]*)\)", readme)
    assert {"", "find-the-tensor/", "simulated-cuda/"} <= set(places)
    assert [place for place in places if not (site.folder / place / "index.html").exists()] == []
    assert not re.findall(r"\]\(docs/[\w-]+\.md", readme)
