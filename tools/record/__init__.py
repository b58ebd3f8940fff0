"""Record what PyTorch's CUDA build answers when tensors are on different devices: `make record VERSION=2.13.0`.

Each kind of question has a file. `python -m record` asks them in processes of their own and writes
tests/conformance/torch-VERSION-*.gz. record.sh runs it on real GPUs if the machine has some, else over a CUDA without a
GPU, which is runtime.c and nothings.py.

What is asked of operators, programs and in single lines is asked of the simulation too, by tools/conformance.py.
`tools/record/record.sh PYTHON -m record placements` asks one kind anew; placements take ten minutes on two cores.
"""
