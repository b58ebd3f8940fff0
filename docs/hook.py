# MkDocs' hook. All of it is in lessons.site: a hook inside src breaks on relative imports.
from lessons.site import *  # noqa: F403
