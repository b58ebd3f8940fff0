# culprit: hidden | hidden[0] | h0
# cause: hidden_state_not_moved
import torch
from torch import nn


class CharLSTM(nn.Module):
    def __init__(self, vocab=30, hidden=16, layers=2):
        super().__init__()
        self.layers, self.hidden = layers, hidden
        self.embed = nn.Embedding(vocab, 8)
        self.lstm = nn.LSTM(8, hidden, layers, batch_first=True)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, x, hidden):
        out, hidden = self.lstm(self.embed(x), hidden)
        return self.fc(out), hidden

    def init_hidden(self, batch_size):
        h0 = torch.zeros(self.layers, batch_size, self.hidden)
        c0 = torch.zeros(self.layers, batch_size, self.hidden)
        return h0, c0


def main():
    device = torch.device("cuda")
    net = CharLSTM().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.002)
    text = torch.randint(0, 30, (4, 41))
    hidden = net.init_hidden(batch_size=4)
    for i in range(0, 40, 10):
        x, y = text[:, i : i + 10].to(device), text[:, i + 1 : i + 11].to(device)
        hidden = tuple(h.detach() for h in hidden)
        logits, hidden = net(x, hidden)
        loss = nn.functional.cross_entropy(logits.reshape(-1, 30), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5)
        optimizer.step()
