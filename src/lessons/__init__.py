"""The functions that the notebooks import. Importing it imports neither torch nor MkDocs."""

from lessons.exercises import check
from lessons.folder import new_folder
from lessons.gpus import start
from lessons.gradients import gradients
from lessons.laptop import without_gpu
from lessons.late import late_copies
from lessons.measured import measured
from lessons.ranks import torchrun
from lessons.schedule import schedule
from lessons.steps import steps
from lessons.steps_on_ranks import steps_on_ranks
from lessons.timeline import timeline
from lessons.tracebacks import answer_of, traceback_of
from samedevice.placement import picture

__all__ = [
    "answer_of",
    "check",
    "gradients",
    "late_copies",
    "measured",
    "new_folder",
    "picture",
    "schedule",
    "start",
    "steps",
    "steps_on_ranks",
    "timeline",
    "torchrun",
    "traceback_of",
    "without_gpu",
]
