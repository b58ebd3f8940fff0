import torch
import torch.nn.functional as F
from generate import generate
from layers import LanguageModel

TEXT = "the cat sat on the mat and the dog sat on the log and the cat saw the dog " * 4


def get_batch(data, batch_size, block):
    ix = torch.randint(len(data) - block - 1, (batch_size,))
    x = torch.stack([data[i : i + block] for i in ix])
    y = torch.stack([data[i + 1 : i + block + 1] for i in ix])
    return x, y


def main():
    torch.manual_seed(1337)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    chars = sorted(set(TEXT))
    data = torch.tensor([chars.index(c) for c in TEXT])
    model = LanguageModel(len(chars)).to(device)
    token_weights = torch.ones(len(chars))
    token_weights[chars.index(" ")] = 0.5
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for it in range(1, 41):
        x, y = get_batch(data, 8, 16)
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), weight=token_weights)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if it % 10 == 0:
            print(f"iter {it}: loss {loss.item():.3f}")
    out = generate(model, [chars.index(c) for c in "the "], 12, device)
    print(repr("".join(chars[i] for i in out)))


if __name__ == "__main__":
    main()
