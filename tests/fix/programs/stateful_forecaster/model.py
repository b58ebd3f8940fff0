import torch
import torch.nn as nn


class StatefulLSTM(nn.Module):
    def __init__(self, hidden=16, quantiles=3):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, quantiles)
        self.state = None

    def reset(self, batch_size):
        h = torch.zeros(1, batch_size, self.hidden)
        c = torch.zeros(1, batch_size, self.hidden)
        self.state = (h, c)

    def forward(self, x):
        if self.state is None or self.state[0].size(1) != x.size(0):
            self.reset(x.size(0))
        out, state = self.lstm(x, self.state)
        self.state = tuple(s.detach() for s in state)
        return self.fc(out)
