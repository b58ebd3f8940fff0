"""What `import samedevice` and `import lessons` give, and what they do not load."""

import subprocess
import sys

import pytest

import samedevice


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_the_public_names_are_these():
    assert samedevice.__all__ == ["explain", "install", "simulate_cuda", "where"]
    assert callable(samedevice.explain)
    assert callable(samedevice.install)
    assert callable(samedevice.simulate_cuda)
    assert callable(samedevice.where)
    with pytest.raises(AttributeError, match="'simulate_cpu'"):
        samedevice.simulate_cpu  # noqa: B018


def test_importing_loads_neither_torch_nor_the_sites_tools():
    heavy = ("torch", "numpy", "mkdocs", "mkdocs_jupyter", "nbconvert", "IPython")
    process = run(f"import samedevice, lessons, sys; print([name for name in {heavy} if name in sys.modules])")
    assert process.stdout == "[]\n", process.stderr


def test_without_torch_the_simulation_names_the_pip_line():
    process = run("import sys; sys.modules['torch'] = None\nimport samedevice, lessons\nsamedevice.simulate_cuda(2)")
    error = process.stderr.splitlines()[-1]
    assert error.startswith("ImportError: ")
    assert "pip install" in error
    assert "torch" in error
