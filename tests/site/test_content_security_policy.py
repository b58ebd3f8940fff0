"""Each page's Content-Security-Policy: the site works under it, and what was slipped into a page does not run."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tests.site.accessibility import UNFINISHED
from tests.site.conftest import link_builder

import samedevice

ROOT = Path(__file__).parents[2]
REPORT = """
window.reported = [];
addEventListener("securitypolicyviolation", (event) =>
  reported.push([event.violatedDirective, event.blockedURI, event.sourceFile, event.sample].join(" ")));
"""
INJECTED = """
<img src="data:," onerror="window.ran = 'a handler'">
<iframe srcdoc="<script>parent.ran = 'a frame'</script>"></iframe>
<p style="color: red" class="injected">text</p>
"""


@pytest.fixture
def open_page(browser, site, address):
    """Open a page whose violations are listed in `window.reported`, wherever it thinks that the site's root is."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    context.add_init_script(REPORT)
    published = urlsplit(str(site.page("").select_one("link[rel=canonical]")["href"])).path
    context.route(
        lambda url: urlsplit(url).path.startswith(published),
        lambda route: route.continue_(url=route.request.url.replace(published, urlsplit(address).path)),
    )

    def open_it(path, site=address):
        page = context.new_page()
        page.goto(site + path)
        return page

    yield open_it
    context.close()


def test_the_policy_stands_first_in_head_and_allows_nothing_inline_but_by_hash(site):
    for path in [*site.html(), site.folder / "404.html"]:
        html = path.read_text(encoding="utf-8")
        assert re.search(r"<head><meta http-equiv=\"Content-Security-Policy\"", html), path
        assert html.encode().index(b"<meta charset") < 1024, path  # where a browser looks for it
        policy = re.search(r'Security-Policy" content="([^"]*)"', html)[1]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'; script-src 'self' 'sha256-")
        assert set(re.findall(r"[\w-]+-(?:src|uri|action) [^;]*(?:https?:|\*)[^;]*", policy)) == set(), path


@pytest.mark.parametrize("path", ["", "a lesson", "errors/", "errors/sd001/", "404.html"])
def test_search_toggle_copying_and_folds_work_without_a_violation(open_page, lessons, path):
    page = open_page(path.replace("a lesson", lessons[0]))
    page.wait_for_load_state("networkidle")
    page.locator(UNFINISHED).first.wait_for(state="detached")
    page.get_by_title("Switch to light mode").click()
    page.get_by_title("Switch to dark mode").click()
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    for summary in page.locator("article summary").all():
        summary.click()
    for button in page.locator("[title='Copy to clipboard']:visible").all()[:1]:
        button.click()
        page.get_by_text("Copied to clipboard").wait_for()
    page.keyboard.press("/")
    page.get_by_text("Type to start searching").wait_for()
    page.keyboard.type("devices")
    page.locator(".md-search-result__link").first.wait_for()
    assert page.evaluate("reported") == []


def test_an_injected_script_handler_frame_and_style_do_nothing(open_page):
    page = open_page("")
    page.evaluate("html => document.querySelector('article').insertAdjacentHTML('beforeend', html)", INJECTED)
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 'a script'";
        document.body.append(script);
        const elsewhere = document.createElement("script");
        elsewhere.src = "https://example.org/script.js";
        document.body.append(elsewhere);
        location.href = "javascript:void(window.ran = 'an address')";
    }""")
    for directive in ("script-src-attr", "script-src-elem", "style-src-attr"):  # a handler's waits for its event
        page.wait_for_function("wanted => reported.some((report) => report.split(' ')[0] === wanted)", arg=directive)
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    assert page.evaluate("getComputedStyle(document.querySelector('.injected')).color") != "rgb(255, 0, 0)"


OUTPUT = new_output("display_data", {"text/html": '<p style="color: red"></p><b onclick="f()"></b><script></script>'})


def test_what_the_policy_would_switch_off_in_a_lesson_fails_the_build(build_small):
    lesson = new_notebook(cells=[new_markdown_cell("# A"), new_code_cell("show()", outputs=[OUTPUT])])
    built = build_small({"index.md": "# Home"}, {"01-a.ipynb": lesson})
    assert built.returncode == 1
    for what in ("the attribute style", "the attribute onclick", "a script in its content"):
        assert f"'notebooks/01-a.ipynb' has {what}, which" in built.log
    assert "Aborted with 3 warnings" in built.log


def test_a_table_is_aligned_without_a_style_and_a_sentence_may_name_one(build_small):
    table = "| a | b |\n| :-- | --: |\n| 1 | 2 |\n"
    sentence = """Write `<p style="x">` or a=" <b title='an once=1 style=2'>only=1</b>."""
    built = build_small({"index.md": f"# Home\n\n{table}\n{sentence}"}, {"01-a.ipynb": ["# A", table]})
    assert built.returncode == 0, built.log
    for path in ("", "notebooks/01-a/"):
        assert [cell["class"] for cell in built.page(path).select("article td")] == [["left"], ["right"]], path


@pytest.fixture
def being_edited(tmp_path):
    """`mkdocs serve` on a home page and a copy of the package with one message: its address, and the message's file."""
    for name in ("mkdocs.yml", "CONTRIBUTING.md", "MAINTAINING.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    link_builder(tmp_path)
    (tmp_path / "docs/index.md").write_text("# Home")
    (tmp_path / "notebooks").mkdir()
    package = shutil.copytree(Path(samedevice.__file__).parent, tmp_path / "src/samedevice")
    message = package / "catalog/messages/SD050.toml"
    for other in set(message.parent.iterdir()) - {message}:
        other.unlink()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    path = os.pathsep.join([str(tmp_path / "src"), str(ROOT / "tools")])
    serving = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", at],
        cwd=tmp_path,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
    )
    said = []
    try:
        for line in serving.stderr:
            said.append(line)
            if "Serving on" in line:
                yield line.split()[-1], message
                break
    finally:
        serving.terminate()
        serving.stderr.close()
        serving.wait()
    assert "Serving on" in said[-1], "".join(said)


def test_while_the_site_is_served_an_edit_of_the_catalog_comes_to_the_open_page(open_page, being_edited):
    address, message = being_edited
    page = open_page("errors/", address)
    page.locator("article h1", has_text="All errors").wait_for()
    text = message.read_text(encoding="utf-8")
    message.write_text(re.sub('(?m)^title = ".*"', 'title = "An edited title"', text, count=1), encoding="utf-8")
    page.locator("article li", has_text="An edited title").wait_for()
