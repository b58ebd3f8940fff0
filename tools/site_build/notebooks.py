"""The lessons, which are outside docs/: MkDocs does not look there. No copy is kept."""

import json
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from site_build.build_error import BuildError


def project(config: MkDocsConfig) -> Path:
    """Return the folder of mkdocs.yml."""
    return Path(config.config_file_path).parent


def add_notebooks(files: Files, config: MkDocsConfig) -> Files:
    """Add notebooks/*.ipynb to the files of the site, as if notebooks/ were a folder of docs/.

    Raises:
        BuildError: a file is no notebook.
    """
    root = project(config)
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        name = path.relative_to(root).as_posix()
        try:
            json.loads(path.read_text(encoding="utf-8"))["metadata"]
        except (ValueError, KeyError, TypeError) as error:
            raise BuildError(f"{name} is not a notebook ({error!r}): restore it.") from None
        files.append(File(name, str(root), config.site_dir, config.use_directory_urls))
    return files
