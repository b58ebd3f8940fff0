"""Build the site for reading from a disk and pack it into one zip: `make offline`."""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ZIP = ROOT / "same-device-offline.zip"
# What is for hosts, search engines and a served search.
LEFT_OUT = {
    "404.html",
    "sitemap.xml",
    "sitemap.xml.gz",
    "search/search_index.json",
    "assets/card.png",
    "assets/not-found.js",
}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
            cwd=ROOT,
            env=os.environ | {"OFFLINE": "true"},
        )
        if run.returncode:
            return run.returncode
        pack(Path(folder), ZIP)
    print(f"{ZIP.name}, {ZIP.stat().st_size / 1e6:.1f} MB: unzip it and open same-device/index.html.")
    return 0


def pack(site: Path, target: Path) -> None:
    """Put a site that was built for reading from a disk into a zip, in a folder of its own."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted(site.rglob("*")):
            name = path.relative_to(site).as_posix()
            if path.is_file() and name not in LEFT_OUT and path.suffix != ".map":
                packed.write(path, f"same-device/{name}")


if __name__ == "__main__":
    sys.exit(main())
