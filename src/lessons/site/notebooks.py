"""Which notebooks are on the site, in which order, and at which address it is published.

The lessons stay in the top-level notebooks/ folder, outside docs/, where MkDocs does not look: no copy is kept.
"""

import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files


def project(config: MkDocsConfig) -> Path:
    """The folder of mkdocs.yml."""
    return Path(config.config_file_path).parent


def add_notebooks(files: Files, config: MkDocsConfig) -> Files:
    """Add notebooks/*.ipynb to the files of the site, as if notebooks/ were a folder of docs/.

    Raises PluginError where a file is no notebook.
    """
    root = project(config)
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        name = path.relative_to(root).as_posix()
        try:
            json.loads(path.read_text(encoding="utf-8"))["metadata"]
        except (ValueError, KeyError, TypeError) as error:
            raise PluginError(f"{name} is not a notebook ({error!r}): restore it.") from None
        files.append(File(name, str(root), config.site_dir, config.use_directory_urls))
    return files


def expand_navigation(config: MkDocsConfig) -> list[object] | None:
    """mkdocs.yml's nav, with a pattern such as `notebooks/*.ipynb` in a section's list replaced by what matches."""
    root = project(config)

    def expanded(target: object) -> list[object]:
        if not isinstance(target, str) or "*" not in target:
            return [target]
        return [*sorted(path.relative_to(root).as_posix() for path in root.glob(target))]

    return config.nav and [
        {title: [page for part in target for page in expanded(part)] if isinstance(target, list) else target}
        for item in config.nav
        for title, target in item.items()
    ]


def published_address(repository: str | None) -> str | None:
    """Where GitHub Pages publishes a repository: `https://github.com/a/b` gives `https://a.github.io/b/`."""
    names = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)/?", repository or "")
    return f"https://{names[1]}.github.io/{names[2]}/" if names else None
