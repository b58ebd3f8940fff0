import torch
import torch.nn as nn
from data import EOS, PAD, SOS, VOCAB, ReverseDataset, collate
from model import Decoder, Encoder
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def translate(encoder, decoder, src, max_len=10):
    lengths = torch.tensor([len(src)], device=device)
    memory = encoder(src.unsqueeze(0).to(device))
    hidden = decoder.init_hidden(1)
    token, result = torch.tensor([SOS]), []
    for _ in range(max_len):
        logits, hidden = decoder(token, hidden, memory, lengths)
        token = logits.argmax(dim=1)
        if token.item() == EOS:
            break
        result.append(token.item())
    return result


def main():
    torch.manual_seed(3)
    dataset = ReverseDataset(60)
    loader = DataLoader(dataset, batch_size=16, shuffle=True, collate_fn=collate)
    encoder, decoder = Encoder(VOCAB, 24).to(device), Decoder(VOCAB, 24).to(device)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    weight = torch.ones(VOCAB)
    weight[EOS] = 2.0
    criterion = nn.CrossEntropyLoss(weight=weight, ignore_index=PAD)
    for epoch in range(3):
        total = 0.0
        for batch in loader:
            src, lengths, trg = (t.to(device) for t in batch)
            memory = encoder(src)
            hidden, loss = decoder.init_hidden(src.size(0)), 0
            for t in range(trg.size(1) - 1):
                logits, hidden = decoder(trg[:, t], hidden, memory, lengths)
                loss = loss + criterion(logits, trg[:, t + 1]) if (trg[:, t + 1] != PAD).any() else loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
    with torch.no_grad():
        print("translated", [translate(encoder, decoder, dataset[i][0]) for i in range(3)])


if __name__ == "__main__":
    main()
