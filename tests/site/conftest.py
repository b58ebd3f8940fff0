"""The site built as `make build` builds it, small sites of a test's own notebooks and pages, and a real browser.

Each build is a process of its own that can reach neither the network nor torch: what needs one of them fails.
"""

import contextlib
import functools
import http
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from filelock import FileLock
from nbformat.v4 import new_markdown_cell, new_notebook
from playwright.sync_api import sync_playwright
from tests.site.paste_box import Box

import repository
from samedevice.catalog import load
from site_build.repository import published_address

ROOT = Path(__file__).parents[2]
OWNER, NAME = repository.held(ROOT)
# Without an address, it is built for somebody's: what it is without one, test_unpublished sees.
UPSTREAM = f"{'somebody' if OWNER == repository.PLACEHOLDER else OWNER}/{NAME}"
ADDRESS = published_address(f"https://github.com/{UPSTREAM}")  # of the site that is built here
PREFIX = "/some/prefix/"
LAPTOP = 1280
# Chromium without a window's frame, menus and profile opens a page in half the time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# An audit hook sees each connection and each import of the process, those that are caught included.
BUILD = """
import runpy, sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo") or (event == "import" and arguments[0] == "torch"):
        sys.stderr.write(f"ERROR - the build may not: {event} {arguments[:1]}\\n")
        raise SystemExit(3)
sys.addaudithook(refuse)
runpy.run_module("mkdocs", run_name="__main__")
"""


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker("slow")  # all of this folder: `make test-rest` runs them


@dataclass
class Built:
    folder: Path
    returncode: int
    log: str

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def page(self, path: str) -> BeautifulSoup:
        return BeautifulSoup(self.read(f"{path}index.html"), "html.parser")

    @property
    def pages(self) -> list[str]:
        """Where each page stands that is not of the catalog: "" is the home page, "notebooks/01-x/" a lesson."""
        return [place for place in self._places() if not place.startswith(("errors/", "causes/"))]

    @property
    def errors(self) -> list[str]:
        """The error index, which is "errors/", and its pages."""
        return [place for place in self._places() if place.startswith("errors/")]

    @property
    def causes(self) -> list[str]:
        """The list of causes, which is "causes/", and its pages."""
        return [place for place in self._places() if place.startswith("causes/")]

    def _places(self) -> list[str]:
        return [path.relative_to(self.folder).as_posix().removesuffix("index.html") for path in self.html()]

    def html(self) -> list[Path]:
        return sorted(self.folder.rglob("index.html"))


def build(project: Path, folder: Path, **environment: str) -> Built:
    """Build it for the address that stands in the files, whosever clone this is, unless GITHUB_REPOSITORY is given."""
    settings = {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1", "GITHUB_REPOSITORY": UPSTREAM}
    run = subprocess.run(
        [sys.executable, "-c", BUILD, "build", "--strict", "--site-dir", str(folder)],
        cwd=project,
        env=os.environ | settings | environment,
        capture_output=True,
        text=True,
    )
    return Built(folder, run.returncode, run.stdout + run.stderr)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The project's site, built once for all processes of xdist; lessons are at `notebooks/NN-slug/`."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    log = shared / "site.log"
    with FileLock(shared / "site.lock"):
        if not log.exists():
            built = build(ROOT, shared / "site")
            assert built.returncode == 0, built.log
            log.write_text(built.log, encoding="utf-8")
    return Built(shared / "site", 0, log.read_text(encoding="utf-8"))


class Tags(HTMLParser):
    """Every tag of a page with its attributes, in order: in a tenth of the time that a tree of them takes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attributes}))


@pytest.fixture(scope="session")
def tags(site: Built) -> dict[Path, list[tuple[str, dict[str, str]]]]:
    """The tags of each HTML file of the project's site, error pages and 404.html included."""
    return {path: Tags(path.read_text(encoding="utf-8")).found for path in sorted(site.folder.rglob("*.html"))}


@pytest.fixture(scope="session")
def lessons(site: Built) -> list[str]:
    """The places of the lessons' pages, in the curriculum's order."""
    slugs = [path.stem for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
    assert sorted(load().lessons) == slugs, "Give each notebook one row in src/samedevice/catalog/lessons.toml."
    return [f"notebooks/{slug}/" for slug in load().lessons]


@pytest.fixture(scope="session")
def simulated_run(lessons: list[str]) -> dict[str, Any]:
    """What `make verify` wrote of the lessons, each of which it has run and found right."""
    run: dict[str, Any] = json.loads((ROOT / "results/simulated.json").read_text("utf-8"))
    passed = [slug for slug, standing in run["lessons"].items() if standing["passed"]]
    missing = [slug for slug in load().lessons if slug not in passed]
    assert not missing, f"results/simulated.json has no run in which these passed: {missing}. Run `make verify`."
    return run


def link_builder(project: Path) -> None:
    """Give a small project what builds its site: its hook looks for tools/site_build beside docs/."""
    (project / "tools").symlink_to(ROOT / "tools")


def with_navigation(*items: str) -> str:
    """The project's mkdocs.yml with another navigation."""
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = "".join(f"  - {item}\n" for item in items)
    changed, count = re.subn(r"^nav:.*\n(?: +.*\n)+", f"nav:\n{nav}", config, flags=re.M)
    assert count == 1
    return changed


@pytest.fixture(scope="module")
def build_small(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Built]:
    """Build a site with our mkdocs.yml, hook and templates, but other pages and no error index.

    A notebook is a NotebookNode, a list of texts (its Markdown cells), or the text of a file that is none.
    """

    def build_it(pages: dict[str, str], notebooks: dict[str, nbformat.NotebookNode | list[str] | str]) -> Built:
        project = tmp_path_factory.mktemp("project")
        config = with_navigation("index.md", "Learn: [notebooks/*.ipynb]")
        (project / "mkdocs.yml").write_text(config, encoding="utf-8")
        link_builder(project)
        shutil.copytree(ROOT / "docs", project / "docs", ignore=shutil.ignore_patterns("*.md", "__pycache__"))
        (project / "notebooks").mkdir()
        for name, text in pages.items():
            (project / "docs" / name).write_text(text, encoding="utf-8")
        for name, notebook in notebooks.items():
            if isinstance(notebook, list):
                notebook = new_notebook(cells=[new_markdown_cell(text) for text in notebook])
            text = notebook if isinstance(notebook, str) else nbformat.writes(notebook)
            (project / "notebooks" / name).write_text(text, encoding="utf-8")
        return build(project, project / "site")

    return build_it


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the folder under PREFIX only, as GitHub Pages serves a project."""

    def translate_path(self, path: str) -> str:
        return super().translate_path("/" + path.removeprefix(PREFIX) if path.startswith(PREFIX) else "/none")

    def log_message(self, *arguments: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """One that lets a page ask for all of its files at once: with room for five, others would be refused."""

    request_queue_size = 128


@contextlib.contextmanager
def served(built: Built) -> Iterator[str]:
    """The address at which a site is served, under a path prefix."""
    handler = functools.partial(Quiet, directory=str(built.folder))
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}{PREFIX}"
        server.shutdown()


@pytest.fixture(scope="session")
def address(site: Built) -> Iterator[str]:
    with served(site) as address:
        yield address


@pytest.fixture
def address_of_small(build_small: Callable[..., Built]) -> Iterator[Callable[..., str]]:
    """Build a small site and serve it."""
    with contextlib.ExitStack() as servers:
        yield lambda pages, notebooks: servers.enter_context(served(build_small(pages, notebooks)))


@pytest.fixture(scope="session")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not path:
        pytest.skip("The browser tests need Chromium or Chrome, and none is installed here.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


def answered(response):
    return response.ok or response.status == http.HTTPStatus.NOT_MODIFIED


@pytest.fixture
def visit(browser, address):
    """Open a page of the site; afterwards, no other host was asked, every request answered, no script complained."""
    pages, wrong = [], []

    def open_page(path="", width=LAPTOP, site=address, **options):
        page = browser.new_page(viewport={"width": width, "height": 800}, **options)
        pages.append(page)
        page.on(
            "request", lambda request: request.url.startswith((site, "data:", "blob:")) or wrong.append(request.url)
        )
        page.on("response", lambda response: answered(response) or wrong.append(f"{response.status} {response.url}"))
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(site + path)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


@pytest.fixture
def open_box(visit):
    """Open the home page, for its paste box."""
    return lambda *arguments, **options: Box(visit(*arguments, **options))


@pytest.fixture
def with_clipboard(browser, address):
    """The box in a page that may read and write the clipboard."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(address)
    yield Box(page)
    context.close()
