"""What the notebooks and the site need. Importing it imports neither torch nor MkDocs."""

from lessons.exercises import check
from lessons.gpus import start
from lessons.measured import measured
from lessons.timeline import timeline
from samedevice.placement import picture

__all__ = ["check", "measured", "picture", "start", "timeline"]
