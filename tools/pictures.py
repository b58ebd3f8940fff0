"""Make the README's pictures, of what really runs, and the one that platforms show beside links: `make pictures`.

In terminal.svg a terminal runs `samedevice run train.py`, in fix.svg `samedevice fix train.py`. In paste-box.png the
home page gets the traceback that the first ends in; card.png is card.svg with the logo, and the other cards are the
same drawing with words of their own. All are in docs/assets and kept in git, because the site is built without a
browser, and fonts differ between machines. Each picture holds what it was made of, so that a test can tell when it has
to be made anew.
"""

import contextlib
import functools
import hashlib
import html
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
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import Locator, Page, ViewportSize, sync_playwright
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "docs/assets"
PASTE_BOX = ASSETS / "paste-box.png"
CARD = ASSETS / "card.png"
# Of the other cards, what stands in the two large lines, and in the small one below them.
CARDS = {
    "card-fix": (
        "What the error means,",
        "and the line to change",
        "The likely cause, a check, and the lesson that runs it.",
    ),
    "card-learn": (
        "Learn why tensors are",
        "on different devices",
        "Lessons that raise the errors and run the fixes. No GPU needed.",
    ),
    "card-test": ("Test PyTorch code", "without a GPU", "Simulated CUDA, with PyTorch's own messages, on any CPU."),
}


@dataclass(frozen=True)
class Terminal:
    """A picture of a terminal.

    Attributes:
        path: where the picture is.
        command: what is run in it.
        program: the file train.py that the command finds.
    """

    path: Path
    command: str
    program: str


RUN = Terminal(
    ASSETS / "terminal.svg",
    "samedevice run train.py",
    """\
import torch
from torch import nn

model = nn.Linear(4, 2).to("cuda")
for batch in torch.randn(3, 8, 4):
    loss = model(batch).sum()
    loss.backward()
""",
)
FIX = Terminal(
    ASSETS / "fix.svg",
    "samedevice fix train.py",
    """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
total = torch.zeros(2)
for batch in torch.randn(3, 8, 4):
    out = model(batch)
    out.sum().backward()
    total += out.detach().mean(0)
""",
)
_COLUMNS = 96
# Of the lines to change, by how they begin: those of an answer are indented, those of a diff are not.
_STYLES = {r" *\+ |\+(?!\+)": "green", r" *- |-(?!-)": "red"}
_SCREEN: ViewportSize = {"width": 760, "height": 900}
_CARD: ViewportSize = {"width": 1200, "height": 630}


def said(terminal: Terminal) -> str:
    """What a command prints, without the temporary folder, and without what `fix` says where a machine is slow."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(terminal.program, encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-m", *terminal.command.split()],
            cwd=folder,
            env=os.environ | {"COLUMNS": str(_COLUMNS), "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        printed = re.sub("samedevice: this run has taken .*\n", "", run.stdout)
        return printed.replace(f"{folder}{os.sep}", "").removesuffix("\n")


def svg(terminal: Terminal, printed: str) -> str:
    """The SVG of a terminal with its command and what it printed."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text(f"$ {terminal.command}", style="bold"))
    for line in printed.splitlines():
        style = next((style for begin, style in _STYLES.items() if re.match(begin, line)), "")
        console.print(Text(line, style="bold red" if line.startswith("RuntimeError") else style))
    drawn = console.export_svg(title=terminal.command, unique_id="terminal")
    # rich leads to a font on another host; without it, the reader's own monospace is used.
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S).replace("Fira Code, monospace", "monospace")


def traceback_of(printed: str) -> str:
    """Of what the command printed, the traceback."""
    return printed[printed.index("Traceback (most recent call last):") :]


def drawing() -> str:
    """Return a digest of the cards: of card.svg, the logo that it shows, and the words."""
    parts = [*((ASSETS / name).read_bytes() for name in ("card.svg", "logo.svg")), repr(CARDS).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def lettered(words: tuple[str, str, str]) -> str:
    """Return card.svg with other words in its large lines and in the small one."""
    lines = iter(words)
    text = (ASSETS / "card.svg").read_text("utf-8")
    return re.sub(r'(<text x="80" [^>]*>)[^<]*', lambda line: line[1] + html.escape(next(lines)), text)


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
    printed = said(RUN)
    for terminal, text in ((RUN, printed), (FIX, said(FIX))):
        terminal.path.write_text(svg(terminal, text), encoding="utf-8")
    with tempfile.TemporaryDirectory() as site, sync_playwright() as playwright:
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", site], cwd=ROOT, check=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=_SCREEN, device_scale_factor=1.5)
        with _served(site) as address:
            shown = show_diagnosis(page, address, traceback_of(printed))
            screenshot, text = shown.screenshot(), shown.inner_text()
        drawn = browser.new_page(viewport=_CARD)
        drawn.goto((ASSETS / "card.svg").as_uri())
        cards = {CARD: drawn.screenshot()}
        for name, words in CARDS.items():
            written = ASSETS / f"{name}.svg"  # beside the logo
            written.write_text(lettered(words), encoding="utf-8")
            drawn.goto(written.as_uri())
            cards[ASSETS / f"{name}.png"] = drawn.screenshot()
            written.unlink()
        browser.close()
    store(PASTE_BOX, screenshot, "Text", text)
    for file, card in cards.items():
        store(file, card, "Source", drawing())
    for made in (RUN.path, FIX.path, PASTE_BOX, *cards):
        print(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1000:.0f} kB")
    return 0


def store(path: Path, screenshot: bytes, key: str, made_of: str) -> None:
    """Store a screenshot with what it was made of. 64 colours are enough for flat shapes and the edges of letters."""
    source = PngImagePlugin.PngInfo()
    source.add_itxt(key, made_of)
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    picture.save(path, optimize=True, pnginfo=source)


if __name__ == "__main__":
    sys.exit(main())
