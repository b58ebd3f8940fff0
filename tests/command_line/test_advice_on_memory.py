"""What is said of "CUDA out of memory" names a command that shows whether a batch fits a smaller GPU: it does so."""

import re
import shlex

import pytest

from samedevice import explain

TRAIN = """\
import torch

model = torch.nn.Linear(16, 4).to("cuda")
model(torch.ones({batch}, 16, device="cuda"))
print("fits a", torch.cuda.get_device_name())
"""


@pytest.mark.slow
def test_the_command_that_is_named_tells_what_fits_a_smaller_gpu(forked, tmp_path):
    other = explain("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.").other
    program, *arguments = shlex.split(re.search("`(samedevice run [^`]+)`", other.says)[1])
    command = ("-m", program, *arguments)
    (tmp_path / arguments[-1]).write_text(TRAIN.format(batch=2**30))
    full = forked(*command)
    assert "CUDA out of memory. Tried to allocate 64.00 GiB. GPU 0 has a total capacity of 14.56 GiB" in full.stderr
    assert full.returncode == 1
    assert explain(full.stderr).other.id == other.id
    (tmp_path / arguments[-1]).write_text(TRAIN.format(batch=2**10))
    fits = forked(*command)
    assert (fits.returncode, fits.stdout) == (0, "fits a Tesla T4\n"), fits.stderr
