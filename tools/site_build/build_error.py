"""The mistake that ends a build with one sentence and no traceback; here alone it has the name that MkDocs gives it."""

from mkdocs.exceptions import PluginError as BuildError

__all__ = ["BuildError"]
