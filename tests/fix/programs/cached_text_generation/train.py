import torch
import torch.nn.functional as F
from generation import generate
from modeling import TinyLM
from tokenizer import CharTokenizer

torch.manual_seed(19)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
texts = ["abcabcabc.", "bcabcab.", "cab.", "aabbcc."]
tokenizer = CharTokenizer("abc.")
model = TinyLM(5).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
for step in range(1, 41):
    batch = {k: v.to(device) for k, v in tokenizer(texts).items()}
    logits, _ = model(**batch)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), batch["input_ids"][:, 1:].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
model.eval()
for ids in generate(model, tokenizer(["abc", "b"]), stop_ids=[4]).tolist():
    print(repr(tokenizer.decode(ids)))
