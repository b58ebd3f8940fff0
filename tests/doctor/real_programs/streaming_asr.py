# culprit: state
# cause: hidden_state_not_moved | tensor_created_in_forward_without_device
import torch
from torch import nn


class StreamingEncoder(nn.Module):
    def __init__(self, n_mels=20, hidden=24, kernel=5):
        super().__init__()
        self.kernel = kernel
        self.conv = nn.Conv1d(n_mels, hidden, kernel)
        self.gru = nn.GRU(hidden, hidden, num_layers=2, batch_first=True)
        self.ctc = nn.Linear(hidden, 30)

    def initial_state(self, batch_size):
        return torch.zeros(self.gru.num_layers, batch_size, self.gru.hidden_size)

    def step(self, frames, context, state):
        frames = torch.cat([context, frames], dim=2)
        context = frames[:, :, -(self.kernel - 1):]
        feats = self.conv(frames).transpose(1, 2)
        out, state = self.gru(feats, state)
        return self.ctc(out).log_softmax(-1), context, state


def stream(model, audio, chunk=10):
    state = model.initial_state(audio.size(0))
    context = audio.new_zeros(audio.size(0), audio.size(1), model.kernel - 1)
    for start in range(0, audio.size(2), chunk):
        piece = audio[:, :, start:start + chunk]
        log_probs, context, state = model.step(piece, context, state)
        yield log_probs.argmax(-1)


def main():
    device = torch.accelerator.current_accelerator()
    model = StreamingEncoder().to(device).eval()
    mel = torch.randn(1, 20, 40, device=device)
    with torch.no_grad():
        tokens = torch.cat(list(stream(model, mel)), dim=1)
    return tokens.tolist()
