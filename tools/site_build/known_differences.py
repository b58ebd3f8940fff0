"""The list of known differences between the simulation and CUDA, with the reasons."""

import tomllib
from importlib import resources


def known_differences() -> str:
    text = (resources.files("samedevice") / "simulation/known_differences.toml").read_text("utf-8")
    return "\n".join(f"- {one['what']} {one['why']}" for one in tomllib.loads(text)["difference"])
