# culprit: [f * 2 for f in feats] | f | feats[1] | feats
# cause: input_not_moved | tensors_of_two_devices_joined | tensor_created_in_forward_without_device | metric_or_accumulator_state
import torch
def merge(feats, extra):
    return torch.cat([extra] + [f * 2 for f in feats], dim=1)
def main():
    feats = [torch.randn(2, 3), torch.randn(2, 4)]
    extra = torch.randn(2, 2, device="cuda")
    return merge(feats, extra)
