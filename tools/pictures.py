"""Make the README's two pictures, docs/assets/terminal.svg and paste-box.png, of what really runs: `make pictures`.

A terminal runs `samedevice run train.py`, and the home page gets the traceback that this program ends in. Of each
picture the text is kept in it, so that a test can tell when it has to be made anew.
"""

import contextlib
import functools
import http.server
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import Locator, Page, ViewportSize, sync_playwright
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
TERMINAL = ROOT / "docs/assets/terminal.svg"
PASTE_BOX = ROOT / "docs/assets/paste-box.png"
COMMAND = "samedevice run train.py"
PROGRAM = """\
import torch
from torch import nn

model = nn.Linear(4, 2).to("cuda")
for batch in torch.randn(3, 8, 4):
    loss = model(batch).sum()
    loss.backward()
"""
_COLUMNS = 96
_STYLES = {"+": "green", "- ": "red"}  # of the lines to change, by how they begin
_SCREEN: ViewportSize = {"width": 760, "height": 900}


def said() -> str:
    """What the command prints, without the temporary folder and the lines with an address, which differs in a fork."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(PROGRAM, encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-m", "samedevice", "run", "train.py"],
            cwd=folder,
            env=os.environ | {"COLUMNS": str(_COLUMNS), "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        printed = run.stdout.replace(f"{folder}{os.sep}", "").splitlines()
        return re.sub("\n{3,}", "\n\n", "\n".join(line for line in printed if "https://" not in line))


def terminal(printed: str) -> str:
    """The SVG of a terminal with the command and what it printed."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text(f"$ {COMMAND}", style="bold"))
    for line in printed.splitlines():
        begins = line.strip()[:2]
        style = next((style for begin, style in _STYLES.items() if begins.startswith(begin)), "")
        console.print(Text(line, style="bold red" if line.startswith("RuntimeError") else style))
    svg = console.export_svg(title=COMMAND, unique_id="terminal")
    # rich leads to a font on another host; without it, the reader's own monospace is used.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S).replace("Fira Code, monospace", "monospace")


def traceback_of(printed: str) -> str:
    """Of what the command printed, the traceback."""
    return printed[printed.index("Traceback (most recent call last):") :]


def show_diagnosis(page: Page, address: str, pasted: str) -> Locator:
    """Open the home page, paste, and return the part of it that the picture shows."""
    page.goto(address)
    page.locator("#pasted").fill(pasted)
    page.locator(".diagnosis").wait_for()
    return page.locator(".doctor")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def _served(folder: str) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def main() -> int:
    browsers = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, browsers)), None)
    if not chromium:
        print("make pictures needs Chromium or Chrome, and none is installed here.", file=sys.stderr)
        return 2
    printed = said()
    TERMINAL.write_text(terminal(printed), encoding="utf-8")
    with tempfile.TemporaryDirectory() as site, sync_playwright() as playwright:
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", site], cwd=ROOT, check=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=_SCREEN, device_scale_factor=1.5)
        with _served(site) as address:
            shown = show_diagnosis(page, address, traceback_of(printed))
            screenshot, text = shown.screenshot(), shown.inner_text()
        browser.close()
    source = PngImagePlugin.PngInfo()
    source.add_itxt("Text", text)
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    picture.save(PASTE_BOX, optimize=True, pnginfo=source)
    for made in (TERMINAL, PASTE_BOX):
        print(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
