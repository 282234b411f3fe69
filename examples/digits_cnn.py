"""A small convolutional network learns scikit-learn's handwritten digits: 98 % of unseen ones.

    python examples/digits_cnn.py [--short] [--seed N] [--log DIR]

With --log, TensorBoard shows the network, its losses and its weights (tensorboard --logdir DIR).
"""

from __future__ import annotations

import argparse
from typing import Any

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.utils.data import DataLoader, TensorDataset
from funcgrad.torch.utils.tensorboard import SummaryWriter


def digits() -> tuple[TensorDataset, TensorDataset]:
    """1,797 images of 8 x 8 pixels with their labels, three quarters of them to learn from."""
    images, labels = load_digits(return_X_y=True)
    x, x_test, label, label_test = train_test_split(
        images / 16, labels, test_size=0.25, random_state=0, stratify=labels
    )

    def dataset(x: Any, label: Any) -> TensorDataset:
        return TensorDataset(torch.tensor(x, dtype=torch.float32).reshape(-1, 1, 8, 8), torch.tensor(label))

    return dataset(x, label), dataset(x_test, label_test)


def network() -> nn.Sequential:
    """Two convolutions with batch normalization, pooling, and a linear layer: ten scores for an image."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(512, 10),
    )


def accuracy(model: nn.Module, data: TensorDataset) -> float:
    """The share of images whose highest score is that of the right label."""
    images, labels = data.tensors
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(dim=1) == labels).float().mean().item()
    model.train()
    return right


def train(
    model: nn.Module, data: TensorDataset, epochs: int, writer: SummaryWriter | None = None
) -> list[float]:
    """Adam on batches of 32; the mean loss of each epoch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    loss_of = nn.CrossEntropyLoss()
    losses = []
    bar = tqdm(range(epochs), desc="training", unit="epoch", disable=None)
    for epoch in bar:
        total = 0.0
        for images, labels in DataLoader(data, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(images)
        schedule.step()
        losses.append(total / len(data))
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
        if writer is not None:
            writer.add_scalar("loss", losses[-1], epoch)
            for name, p in model.named_parameters():
                writer.add_histogram(name, p, epoch)
    return losses


def main(arguments: list[str] | None = None) -> float:
    """Train, and print the accuracy on the images that were held back; returns it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="train for a moment only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", metavar="DIR", help="write event files for TensorBoard")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    seen, unseen = digits()
    model = network()
    writer = SummaryWriter(options.log) if options.log else None
    if writer is not None:
        writer.add_graph(model, seen.tensors[0][:1])
    losses = train(model, seen, 1 if options.short else 25, writer)
    if writer is not None:
        writer.close()
    found = accuracy(model, unseen)
    print(
        f"loss {losses[0]:.4f} -> {losses[-1]:.4f}; accuracy on {len(unseen)} digits never seen: {found:.2%}"
    )
    return found


if __name__ == "__main__":
    main()
