"""Activations as functions."""

from __future__ import annotations

from funcgrad.torch.registry import FUNCTIONS

relu, sigmoid, tanh = FUNCTIONS["relu"], FUNCTIONS["sigmoid"], FUNCTIONS["tanh"]
softmax, log_softmax = FUNCTIONS["softmax"], FUNCTIONS["log_softmax"]
