import torch


@torch.no_grad()
def update_teacher(teacher, student, step, decay=0.95):
    decay = min(decay, 1 - 1 / (step + 1))
    for t, s in zip(teacher.state_dict().values(), student.state_dict().values()):
        if t.dtype.is_floating_point:
            t.lerp_(s, 1 - decay)
        else:
            t.copy_(s)
