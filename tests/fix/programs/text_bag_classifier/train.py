import torch
from data import VOCAB, CollateBatch, make_sentences, text_pipeline
from model import TextClassificationModel
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train(dataloader, model, optimizer, criterion):
    model.train()
    total_acc, total_count = 0, 0
    for label, text, offsets in dataloader:
        optimizer.zero_grad()
        predicted = model(text, offsets)
        loss = criterion(predicted, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total_acc += (predicted.argmax(1) == label).sum().item()
        total_count += label.size(0)
    return total_acc / total_count, loss.item()


def predict(model, text):
    with torch.no_grad():
        output = model(torch.tensor(text_pipeline(text)), torch.tensor([0]))
    return output.argmax(1).item(), round(output.softmax(1).max().item(), 4)


if __name__ == "__main__":
    torch.manual_seed(0)
    train_set = make_sentences(120, seed=1)
    loader = DataLoader(train_set, batch_size=16, shuffle=True, collate_fn=CollateBatch(device))
    model = TextClassificationModel(len(VOCAB), 8, 3).to(device)
    model.fit_idf(train_set, text_pipeline)
    optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    for epoch in range(1, 5):
        acc, loss = train(loader, model, optimizer, torch.nn.CrossEntropyLoss())
        scheduler.step()
        print(f"epoch {epoch} accuracy {acc:.4f} loss {loss:.4f}")
    print("predicted", predict(model, "the team and the goal"), predict(model, "orbit of a planet"))
