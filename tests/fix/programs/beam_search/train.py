import torch
import torch.nn.functional as F
from beam import beam_search
from model import CaptionModel, create_mask

VOCAB = 14


def make_batch(n, length=8):
    feats = torch.randn(n, 6)
    start = feats.argmax(dim=1, keepdim=True)
    body = 3 + (start + torch.arange(length - 2)) % (VOCAB - 3)
    return feats, torch.cat([torch.full((n, 1), 1), body, torch.full((n, 1), 2)], dim=1)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    model = CaptionModel(VOCAB).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(1, 61):
        feats, tokens = make_batch(16)
        feats, tokens = feats.to(device), tokens.to(device)
        mask = create_mask(tokens.size(1) - 1)
        logits = model(feats, tokens[:, :-1], mask)
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    model.eval()
    feats, _ = make_batch(3)
    for f in feats:
        print(beam_search(f.unsqueeze(0).to(device), model))


if __name__ == "__main__":
    main()
