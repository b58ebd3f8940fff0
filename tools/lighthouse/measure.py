"""Measure a page of each kind with Lighthouse, on a phone and on a laptop, and write results/lighthouse.json.

`make lighthouse` installs Lighthouse from npm, in the version of package-lock.json, and runs this. Each score is the
median of three runs, because performance depends on what else the machine does. The exit status is 1 if a score is
below the budget.

Lighthouse CI (@lhci/cli) also repeats runs, serves a site and compares scores with a budget. This is why we do without
it, in November 2026. Its last release, 0.15.1, asks for Lighthouse 12.6.1 and no other version. It brings 334 packages;
Lighthouse alone brings 201. Among them are tmp 0.0.33 and 0.1.0, which have a known vulnerability of high severity
(GHSA-ph9p-34f9-6g65), and a report of another one in them has been open since February (GoogleChrome/lighthouse-ci,
issue 1131). It would replace the server and the loop below, and nothing else: it measures phones or laptops in one go,
not both, and its reports would still have to be reduced to the scores.
"""

import functools
import gzip
import http.server
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from http import HTTPStatus
from pathlib import Path
from typing import Any

import results

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = HERE / "node_modules" / ".bin" / "lighthouse"
RUNS = 3
DEVICES: dict[str, list[str]] = {"phone": [], "laptop": ["--preset=desktop"]}
BUDGET = {"performance": 99, "accessibility": 100, "best-practices": 100, "seo": 100}
KINDS = ("notebooks/", "errors/")  # of the pages of a folder, the heaviest stands for all
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".xml", ".ipynb"}
Scores = dict[str, Any]  # one for each name of BUDGET, and `amiss`


def main() -> int:
    pages: dict[str, dict[str, Scores]] = {}
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "same-device")
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", site], cwd=ROOT, check=True)
        names = of_each_kind(site)
        with serve(site) as server:
            for name in names:
                url = f"http://127.0.0.1:{server.server_address[1]}/{site.name}/{name}"
                pages[name] = {device: measured(url, options) for device, options in DEVICES.items()}
                print(f"/{name}", json.dumps(pages[name]), flush=True)
            server.shutdown()
    version = json.loads((HERE / "package.json").read_text("utf-8"))["dependencies"]["lighthouse"]
    results.write("lighthouse", {"lighthouse": version, "runs": RUNS, "pages": pages})
    failures = below_budget(pages)
    print("\n".join(failures) or "Every score is within the budget.")
    return 1 if failures else 0


def of_each_kind(site: Path) -> list[str]:
    """Return the pages at the top of the site, the heaviest lesson and the heaviest error page."""
    found = {page.parent.relative_to(site).as_posix(): page.stat().st_size for page in site.glob("**/index.html")}
    top = sorted(name for name in found if "/" not in name)
    heaviest = [max((name for name in found if name.startswith(kind)), key=found.__getitem__) for kind in KINDS]
    return ["" if name == "." else f"{name}/" for name in top + heaviest]


def serve(site: Path) -> http.server.ThreadingHTTPServer:
    """Compress the text of a site, and serve the folder that the site is in."""
    for file in site.rglob("*"):
        if file.suffix in COMPRESSED:
            file.write_bytes(gzip.compress(file.read_bytes(), 6))
    handler = functools.partial(AsGitHubPages, directory=str(site.parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class AsGitHubPages(http.server.SimpleHTTPRequestHandler):
    """Say of text that it is compressed, and of everything that it may be kept for ten minutes."""

    protocol_version = "HTTP/1.1"

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, message)
        if code == HTTPStatus.OK:
            self.send_header("Cache-Control", "max-age=600")
            if self.path.endswith(("/", *COMPRESSED)):
                self.send_header("Content-Encoding", "gzip")

    def log_message(self, *_: object) -> None:
        pass


def measured(url: str, options: list[str]) -> Scores:
    """Return the median of each score, and the audits that failed in any run, except for those of performance."""
    reports = [report(url, options) for _ in range(RUNS)]
    failed = {
        audit["id"]
        for report in reports
        for name in set(BUDGET) - {"performance"}
        for audit in report["categories"][name]["auditRefs"]
        if audit["weight"] and (report["audits"][audit["id"]]["score"] or 0) < 1
    }
    scores = {name: statistics.median(report["categories"][name]["score"] for report in reports) for name in BUDGET}
    return {name: round(score * 100) for name, score in scores.items()} | {"amiss": sorted(failed)}


def report(url: str, options: list[str]) -> dict[str, Any]:
    """Run Lighthouse once."""
    command = [str(PROGRAM), url, "--output=json", "--quiet", "--chrome-flags=--headless=new --no-sandbox", *options]
    # CI: else Lighthouse asks whether it may report errors to its authors.
    run = subprocess.run(command, env=os.environ | {"CI": "1"}, capture_output=True, text=True, encoding="utf-8")
    if run.returncode:
        sys.exit(f"Lighthouse failed on {url}: {run.stderr.strip()[-2000:]}")
    said: dict[str, Any] = json.loads(run.stdout)
    return said


def below_budget(pages: dict[str, dict[str, Scores]]) -> list[str]:
    return [
        f"/{page} on a {device}: {name} {scores[name]}, at least {least} are wanted"
        + (f" ({', '.join(scores['amiss'])})" if name != "performance" else "")
        for page, devices in pages.items()
        for device, scores in devices.items()
        for name, least in BUDGET.items()
        if scores[name] < least
    ]


if __name__ == "__main__":
    sys.exit(main())
