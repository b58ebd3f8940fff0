"""torch.distributed.split_group of a group of NCCL: its parts are groups of NCCL, too.

DeviceMesh makes its groups so where the default group is bound to a GPU: `init_process_group("nccl", device_id=...)`.
In C++ such a group is one of gloo (process_group_nccl.py), and so would its parts be.
"""

from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation.device.devices import CPU
from samedevice.simulation.patches import process_group_nccl

_CUDA = torch.device("cuda")

if process_group_nccl._available:
    from torch.distributed import PrefixStore, ProcessGroup, ProcessGroupGloo

    _split_group = ProcessGroup.split_group


def replacements() -> Iterator[tuple[object, str, object]]:
    if process_group_nccl._available:
        yield ProcessGroup, "split_group", split_group


def split_group(self: Any, ranks: list[int], **options: Any) -> Any:
    """torch/csrc/distributed/c10d/ProcessGroup.cpp, splitGroup: the part with these ranks; None outside it."""
    backend = process_group_nccl.carried(self)
    if backend is None:
        return _split_group(self, ranks, **options)
    if self.rank() not in ranks:
        return None
    name = options["group_name"]
    store, rank = PrefixStore(f"{name}/", backend.kept_store), ranks.index(self.rank())
    nccl = process_group_nccl.Options()
    nccl._timeout = options.get("timeout") or backend.options._timeout
    nccl.global_ranks_in_group, nccl.group_name = ranks, name
    part = ProcessGroup(store, rank, len(ranks))
    part._set_default_backend(ProcessGroup.BackendType.NCCL)
    wanted = {device.type for device in options.get("device_types") or self._device_types}
    if "cuda" in wanted:
        of_gpus = process_group_nccl.ProcessGroupNCCL(PrefixStore("cuda/", store), rank, len(ranks), nccl)
        part._register_backend(_CUDA, ProcessGroup.BackendType.NCCL, of_gpus)
    if "cpu" in wanted and CPU in self._device_types:
        of_cpu = ProcessGroupGloo(PrefixStore("cpu/", store), rank, len(ranks), timeout=nccl._timeout)
        part._register_backend(CPU, ProcessGroup.BackendType.GLOO, of_cpu)
    part._set_group_name(name)
    part._set_group_desc(options.get("group_desc") or "")
    return part
