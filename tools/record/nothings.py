"""Write, as C, a function that succeeds and does nothing for each of CUDA's that PyTorch links and runtime.c lacks.

    python nothings.py FOLDER_OF_TORCH runtime.so > nothings.c

PyTorch's wheels say in their tables of symbols what they want from CUDA, cuBLAS, cuSOLVER, cuFFT, cuSPARSE, cuRAND and
NCCL, so the list is right for each version. cuDNN is not among them: that it cannot start is an error that the recorder
knows, and what it would plan instead of a convolution is not to be made up.
"""

import re
import subprocess
import sys
from pathlib import Path

WANTED = re.compile(r"(cuda|cublas|cusolver|cufft|cusparse|curand|nccl)[A-Z_]\w*$|cu[A-Z]\w*_?\w*$")
# Needed as they are: the texts of errors. Registration of kernels at load does no harm either.
KEPT = re.compile(r"cudaGetError(Name|String)$|ncclGetErrorString$|cuFile")


def symbols(library: Path, *options: str) -> set[str]:
    """Return the names in a library's table of dynamic symbols, without their versions."""
    lines = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in lines.splitlines()}


def main(torch: Path, runtime: Path) -> None:
    there = symbols(runtime, "--defined-only")
    wanted = set().union(
        *(symbols(library, "--undefined-only") for library in sorted((torch / "lib").glob("lib*.so*")))
    )
    print("/* Written by nothings.py. */")
    for name in sorted(wanted - there):
        if WANTED.match(name) and not KEPT.match(name):
            entry = name.startswith("cudaGetDriverEntryPoint")
            print(entry_point(name) if entry else f"int {name}(void) {{ return 0; }}")


def entry_point(name: str) -> str:
    """Write how PyTorch asks for the driver's functions; its last argument says whether one was found."""
    by_version = name.endswith("ByVersion")
    arguments = "const char *name, void **function, " + ("unsigned version, " if by_version else "")
    return (
        "int record_driver_function(const char *, void **);\n"
        f"int {name}({arguments}unsigned long long flags, int *found) "
        "{ if (found) *found = 0; return record_driver_function(name, function); }"
    )


main(Path(sys.argv[1]), Path(sys.argv[2]))
