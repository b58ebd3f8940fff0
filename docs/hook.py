"""MkDocs' hook: all of it is in tools/site_build, which this puts on the path of imports.

A hook can be one file only, since its own relative imports break.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from site_build import *  # noqa: F403
