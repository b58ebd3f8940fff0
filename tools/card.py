"""Make docs/assets/card.png, which platforms show beside a link to the site, of card.svg: `make card`.

It is made by hand and kept, since the site is built without a browser, and fonts differ from one machine to the next.
In the PNG stands which drawing it was made of, so that a test can tell when it has to be made anew.
"""

import hashlib
import io
import shutil
import sys
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import sync_playwright

ASSETS = Path(__file__).resolve().parents[1] / "docs/assets"


def drawing(assets: Path) -> str:
    """A digest of card.svg and of the logo that it shows."""
    return hashlib.sha256(b"".join((assets / name).read_bytes() for name in ("card.svg", "logo.svg"))).hexdigest()


def main() -> int:
    browsers = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, browsers)), None)
    if not chromium:
        print("make card needs Chromium or Chrome, and none is installed here.", file=sys.stderr)
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 630})
        page.goto((ASSETS / "card.svg").as_uri())
        screenshot = page.screenshot()
        browser.close()
    source = PngImagePlugin.PngInfo()
    source.add_text("Source", drawing(ASSETS))
    # 64 colours are enough for flat shapes and the edges of letters, and a third of the bytes.
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    picture.save(ASSETS / "card.png", optimize=True, pnginfo=source)
    print(f"docs/assets/card.png: {(ASSETS / 'card.png').stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
