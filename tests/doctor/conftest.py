"""`pytest tests/doctor --update-golden` writes the golden files anew; git then shows what changed for the reader."""

from hypothesis.configuration import set_hypothesis_home_dir


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/doctor/golden anew")


def pytest_configure(config):
    # Where git ignores it, not in a folder of its own beside pyproject.toml.
    set_hypothesis_home_dir(config.rootpath / ".pytest_cache" / "hypothesis")
