"""The site for reading from a disk, which `make offline` builds with Material's plugin of that name.

From a disk a browser loads pictures, styles and scripts, but no modules, no data and no workers. So what the published
site has as modules is plain scripts here, with their data in them; and a link to a folder, whose page a server would
find, leads to the page's file.
"""

import gzip
import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from site_build.build_error import BuildError
from site_build.explorer_page import DATA

_PARTS = ("normalise", "traceback", "expressions", "line-operations", "failing-line", "line-fix")
_DOCTOR = (*(f"doctor/{part}" for part in _PARTS), "doctor", "diagnosis")  # each after what it imports


def is_offline(config: MkDocsConfig) -> bool:
    """Whether pages are files, as the plugin has them, and not folders."""
    return not config.use_directory_urls


def configure_offline(config: MkDocsConfig) -> None:
    """Take out what the plugin and mkdocs.yml load from elsewhere or as modules; main.html loads the plain scripts."""
    config.extra["polyfills"] = []  # the plugin's, from another host
    config.extra_javascript = [script for script in config.extra_javascript if getattr(script, "type", "") != "module"]


def use_plain_scripts(files: Files, config: MkDocsConfig) -> Files:
    """In the place of modules and data: assets/offline.js for every page, and another assets/explorer.js."""

    def take(path: str) -> File:
        file = files.get_file_from_path(path)
        assert file, path
        files.remove(file)
        return file

    catalog = json.loads(take("assets/catalog.json").content_string)
    for cause in catalog["causes"].values():
        cause["lesson"] = _file(cause["lesson"])
    modules = {
        name: plain(f"{name}.js", take(f"assets/{name}.js").content_string)
        for name in (*_DOCTOR, "paste-box", "search", "explorer")
    }
    record = gzip.decompress(take(DATA).content_bytes).decode()
    scripts = {
        "offline": [
            take("assets/frame-worker.js").content_string,
            "(() => {",
            _answering(json.dumps(catalog, ensure_ascii=False)),
            *(_defined(*modules[name]) for name in _DOCTOR),
            f"const doctor = {{ {', '.join(modules['doctor'][0])} }};",
            f"{{\n{modules['paste-box'][1]}\n}}",
            f"{{\n{modules['search'][1]}\n}}",
            "})();",
        ],
        "explorer": ["(() => {", _answering(record), modules["explorer"][1], "})();"],
    }
    for name, parts in scripts.items():
        code = "\n".join(['"use strict";', *parts])
        files.append(File.generated(config, f"assets/{name}.js", content=code))
    return files


def plain(name: str, module: str) -> tuple[list[str], str]:
    """The names that a module exports, and its code for a plain script that has what it imports.

    Raises:
        BuildError: it has a form of import or export that is not known here.
    """
    exports = re.findall(r"^export (?:async )?(?:const|function\*?) (\w+)", module, re.M)
    code = re.sub(r"^(import \{[^}]*\} from .*\n|export (?=async|const|function))", "", module, flags=re.M)
    code = code.replace("import.meta.url", "document.currentScript.src")
    code = re.sub(r'import\("\./(\w+)\.js"\)', r"\1", code)
    code = re.sub(r"`errors/(\$\{[^}]+\})/`", r"`errors/\1.html`", code)
    if left := re.search(r"^(?:import|export)\b.*|\bimport[.(].*", code, re.M):
        raise BuildError(f"{name} has what a plain script cannot have, and {__name__} does not know: {left[0]}")
    return exports, code


def _defined(exports: list[str], code: str) -> str:
    """JavaScript that defines what a module exports, and keeps the rest of its names apart."""
    names = f"{{ {', '.join(exports)} }}"
    return f"const {names} = (() => {{\n{code}\nreturn {names};\n}})();"


def _answering(data: str) -> str:
    """JavaScript for a `fetch` of the script's own, which gives `data` to whoever asks."""
    return f"const fetch = async () => new Response({json.dumps(data, ensure_ascii=False)});"


def lead_to_files(index: Path) -> None:
    """Let the entries of the search that are ours lead to files, as MkDocs' own do."""
    data = json.loads(index.read_text(encoding="utf-8"))
    for entry in data["docs"]:
        entry["location"] = _file(entry["location"])
    index.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")


def _file(address: str) -> str:
    """Of "notebooks/01-x/#a" notebooks/01-x.html#a."""
    return re.sub(r"/(?=$|[?#])", ".html", address)


def link_files(html: str) -> str:
    """A page's content with links to files in the HTML that was written by hand, too, which MkDocs leaves alone."""
    return html.replace('href="errors/"', 'href="errors/index.html"')


def published(address: str) -> str:
    """Where a page that is a file here has its place on the published site."""
    return re.sub(r"(/index)?\.html$", "/", address)
