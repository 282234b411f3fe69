"""torch.cuda, for programs that ask whether there is a GPU: there is none."""

from __future__ import annotations


def is_available() -> bool:
    """Is there a GPU? No."""
    return False


def device_count() -> int:
    """The number of GPUs: none."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the GPU's generator: there is none."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs: there are none."""


def synchronize(device: object = None) -> None:
    """Wait for the GPU: there is nothing to wait for."""


def empty_cache() -> None:
    """Free the GPU's memory: there is none."""
