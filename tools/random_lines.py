"""Draw failing lines, ask the text doctor about their pastes, and hold its answers against what was drawn.

    python tools/random_lines.py [--count 2000] [--seed 1] [--show 5] [--write]

Each line stands in a program that really fails on simulated GPUs (drawn_lines). The first failures are printed in full.
With --write, the figures go to results/lines.json, whatever they are: then failures are no error of the command.
"""

import argparse
import sys
import time
import warnings
from itertools import islice

import torch

import results
from drawn_lines.cases import Figures, cases, run, told
from samedevice import simulate_cuda

_SHOWN = 10


def main() -> int:
    options = argparse.ArgumentParser(description="Draw failing lines, and judge the text doctor's answers.")
    options.add_argument("--count", type=int, default=2000, help="how many lines")
    options.add_argument("--seed", type=int, default=1, help="the same seed draws the same lines")
    options.add_argument("--show", type=int, default=0, metavar="N", help="print the first N cases, and judge none")
    options.add_argument("--write", action="store_true", help="write the figures to results/lines.json")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of the programs' own
    with simulate_cuda(devices=2):
        if chosen.show:
            for case in islice(cases(chosen.show, chosen.seed), chosen.show):
                print(told(case))
            return 0
        start = time.process_time()
        figures = run(chosen.count, chosen.seed)
    report(figures, time.process_time() - start)
    if chosen.write:
        results.write("lines", {"seed": chosen.seed, **written(figures)})
        return 0
    return 1 if figures.failures else 0


def report(figures: Figures, seconds: float) -> None:
    """Print what was counted, and the first failures."""
    for case, judgement in figures.failures[:_SHOWN]:
        print(told(case, judgement))
    print(f"{figures.lines} lines in {seconds:.1f} s, {figures.dropped} dropped, {figures.cut} cut")
    one, few = (
        f"one {figures.one} ({figures.one_wrong} wrong)",
        f"two to four {figures.few} ({figures.few_wrong} wrong)",
    )
    why = ", ".join(f"{count} {reason}" for reason, count in figures.why_none.most_common())
    print(f"named: {one}, {few}, none {figures.none} ({why})")
    print(f"the culprit named without a change: {figures.without_change}")
    print(f"failures: {len(figures.failures)}")
    for kind, count in figures.kinds.most_common():
        print(f"{count:6} {kind}")
    for kind, count in figures.forms.most_common(20):
        print(f"{count:10} {kind}")


def written(figures: Figures) -> dict[str, object]:
    """Return the figures for the site."""
    return {
        "lines": figures.lines,
        "dropped": figures.dropped,
        "cut": figures.cut,
        "failures": len(figures.failures),
        "one": {"named": figures.one, "right": figures.one - figures.one_wrong},
        "few": {"named": figures.few, "right": figures.few - figures.few_wrong},
        "none": figures.none,
        "why_none": {why: figures.why_none[why] for why in ("cut", "more", "other")},
    }


if __name__ == "__main__":
    sys.exit(main())
