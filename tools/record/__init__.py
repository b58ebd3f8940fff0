"""Record what PyTorch's CUDA build answers when tensors are on different devices: `make record VERSION=2.13.0`.

operators.py   what is asked of every operator: PyTorch's own samples (op_db), its tensors placed together and apart
placements.py  the same samples with each tensor everywhere, and what ran inside: for the site's placement explorer
programs.py    what is asked of small programs (tests/conformance/programs)
questions.py   what is asked in single lines, right and wrong (tests/conformance/questions)
optimizers.py  PyTorch's own optimizers and their options (optim_db), with parameters together and apart
modules.py     PyTorch's own modules (module_db), with model and inputs together and apart
errors.py      the text of an error, and which errors say nothing about devices
__main__.py    asks, in processes of their own, and writes tests/conformance/torch-VERSION-*.gz
record.sh      on real GPUs where the machine has some; else over runtime.c and nothings.py, a CUDA without a GPU

What is asked of operators, programs and in single lines is asked of the simulation too, by tools/conformance.py.
`tools/record/record.sh PYTHON -m record placements` asks one of them anew; placements take ten minutes on two
cores.
"""
