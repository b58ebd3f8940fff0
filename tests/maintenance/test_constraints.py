"""constraints.txt pins everything that the project pulls in, at the version that is installed."""

from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]


def pinned():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def installed(name, extras=(), found=None):
    """Every distribution that NAME needs here, direct and transitive, with its version. torch brings its own pins."""
    found = {} if found is None else found
    for text in distribution(name).requires or []:
        needed = Requirement(text)
        wanted = any(needed.marker is None or needed.marker.evaluate({"extra": extra}) for extra in ["", *extras])
        key = canonicalize_name(needed.name)
        if not wanted or key == canonicalize_name(name) or key.startswith(("nvidia-", "cuda-")) or key == "triton":
            continue
        if key not in found or needed.extras:
            found[key] = distribution(key).version
            installed(key, needed.extras, found)
    return found


def test_everything_installed_is_pinned_at_its_version():
    found = installed("samedevice", ["test", "site", "torch"])
    assert {"torch", "mkdocs-material", "nbval", "jinja2"} <= set(found)
    pins = pinned()
    # 2.13.0+cpu and 2.13.0+cu130 are builds of 2.13.0: pip's == takes them for equal, too.
    assert {name: Version(version).public for name, version in found.items()} == {
        name: pins.get(name) for name in found
    }


def test_nothing_is_pinned_that_nothing_needs():
    # ipykernel needs the first on macOS, httpx2 the second in a browser, keyring (of twine) the third on Windows.
    elsewhere = {"appnope", "httpx2-jsfetch", "pywin32-ctypes"}
    assert set(pinned()) - elsewhere <= set(installed("samedevice", ["test", "site", "torch"]))
