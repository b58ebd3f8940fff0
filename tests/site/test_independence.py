"""How much of site_build depends on MkDocs, whose theme ends on 2027-05-05 (MAINTAINING.md has the plan).

A module that names MkDocs' types in annotations works without it. What a module really takes of it stands here, so that
nothing more comes in by the way: a line more has to be worth its place in a move.
"""

import ast
from pathlib import Path

SITE = Path(__file__).parents[2] / "tools/site_build"
TAKEN = {
    "__init__.py": {"event_priority"},  # which hook comes first
    "build_error.py": {"PluginError"},
    "catalog_files.py": {"File", "InclusionLevel"},  # pages that are no files
    "content_security_policy.py": {"get_plugin_logger"},
    "explorer_page.py": {"File"},
    "for_agents.py": {"Page", "Section"},  # walks the navigation
    "links.py": {"get_plugin_logger"},
    "navigation.py": {"Page"},
    "notebook_page.py": {"get_toc"},
    "notebooks.py": {"File"},
    "search_worker.py": {"get_plugin_logger"},
}


def taken(path):
    """The names of MkDocs that a module uses outside of annotations."""
    tree = ast.parse(path.read_text("utf-8"))
    imported = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mkdocs")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    exported = path.name == "build_error.py"
    return {name for known, name in imported.items() if exported or known in used}


def test_what_is_taken_of_mkdocs_is_listed_here_and_no_more():
    found = {path.name: names for path in SITE.glob("*.py") if (names := taken(path))}
    assert found == TAKEN
