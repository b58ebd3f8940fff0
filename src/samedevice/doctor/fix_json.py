"""What `samedevice fix` reached, as data for machines, in the form that docs/assets/fix.schema.json describes.

Whoever reads it can rely on what the schema has: a key that goes, or comes to mean something else, raises SCHEMA.
"""

from dataclasses import asdict
from typing import Any

from samedevice.doctor.fix_outcomes import Fix
from samedevice.doctor.fixing import State

SCHEMA = 1


def as_data(state: State, diff: str, written: bool, unlike: str) -> dict[str, Any]:
    """Return what is reached as what JSON can hold.

    Args:
        state: what is reached.
        diff: the unified diff of all files.
        written: whether the files were written.
        unlike: the first line that the program now prints otherwise than it did on the CPU; "" for none.
    """
    failures = state.run.failures if state.run else ()
    return {
        "schema": SCHEMA,
        "succeeded": state.has_succeeded,
        "exit_code": state.run.exit_code if state.run else None,
        "runs": state.runs,
        "diff": diff,
        "written": written,
        "unlike": unlike,
        "fixes": [_fix(fix) for fix in state.fixes],
        "taken_back": [{**_fix(fix), "reason": reason} for fix, reason in state.taken_back],
        "left": [
            {
                "test": failure.test,
                "error": f"{failure.type}: {failure.message}",
                "file": failure.stack[-1][0] if failure.stack else "",
                "line": failure.stack[-1][1] if failure.stack else 0,
                "diagnosis": failure.diagnosis if failure.is_about_devices else None,
            }
            for failure in failures
        ],
    }


def _fix(fix: Fix) -> dict[str, Any]:
    names = ("expression", "device", "cause")
    return {
        "message": fix.message_id,
        **{name: fix.culprit[name] for name in names},
        "edits": [asdict(edit) for edit in fix.edits],
    }
