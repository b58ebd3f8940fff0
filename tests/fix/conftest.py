"""Keep pytest out of the programs and the suites that are to be fixed: their device errors are what they are for.

Each folder of `programs` runs on the CPU by `python train.py` and has two to five device errors, which show one after
another on GPUs. They were written before anything that fixes them was run on them. `about.toml` names the reports that
they follow, the number of GPUs, the arguments and the errors. `fixed.diff` is what a maintainer would merge: with it,
the program prints on simulated GPUs that draw the CPU's random numbers what it prints on the CPU, and without any one
of its changes it does not. The folders of `suites` are the same for pytest: their tests pass on the CPU.
"""

collect_ignore = ["programs", "suites"]
