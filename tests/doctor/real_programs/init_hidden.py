# culprit: hidden
# cause: hidden_state_not_moved | tensor_created_in_forward_without_device
import torch
import torch.nn as nn


class RNNModel(nn.Module):
    def __init__(self, input_size, output_size, hidden_dim, n_layers):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.n_layers = n_layers
        self.rnn = nn.RNN(input_size, hidden_dim, n_layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_size)

    def forward(self, x):
        batch_size = x.size(0)
        hidden = self.init_hidden(batch_size)
        out, hidden = self.rnn(x, hidden)
        out = out.contiguous().view(-1, self.hidden_dim)
        return self.fc(out), hidden

    def init_hidden(self, batch_size):
        hidden = torch.zeros(self.n_layers, batch_size, self.hidden_dim)
        return hidden


def main():
    for dev in ("cuda", "cpu"):
        model = RNNModel(4, 3, 8, 1).to(dev)
        out, hidden = model(torch.randn(2, 5, 4, device=dev))
        assert out.device.type == dev and hidden.device.type == dev
