# culprit: lengths
# cause: tensor_created_in_forward_without_device
import tempfile

import torch
import torch.distributed as dist


def shared(prompts):
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    dist.broadcast(lengths, src=0)
    return lengths


def main():
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            lengths = shared(["one", "three"])
            assert lengths.is_cuda and lengths.tolist() == [3, 5]
        finally:
            dist.destroy_process_group()
