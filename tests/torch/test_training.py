"""Trainings beside PyTorch's: from the same weights, on the same data, the losses stay the same."""

import numpy as np
import pytest

import funcgrad.torch
from benchmarks.problems.training import PROBLEMS, training
from tests.optional import optional

torch = optional("torch", reason="the comparison needs PyTorch")

OPTIMIZERS = {"Adam": {"lr": 1e-3}, "SGD": {"lr": 0.02, "momentum": 0.9}}
STEPS = 50


def curve(namespace, name, optimizer, dtype, steps=STEPS):
    """The losses of the first steps."""
    step = training(namespace, PROBLEMS[name], optimizer, dtype, examples=4, **OPTIMIZERS[optimizer])
    return np.array([float(step()[0]) for _ in range(steps)])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_losses_are_those_of_pytorch_to_single_precision(name, optimizer):
    expected = curve(torch, name, optimizer, "float32")
    found = curve(funcgrad.torch, name, optimizer, "float32")
    assert expected[-1] < 0.97 * expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("name", PROBLEMS)
def test_losses_are_those_of_pytorch_to_double_precision(name):
    expected = curve(torch, name, "Adam", "float64", steps=20)
    found = curve(funcgrad.torch, name, "Adam", "float64", steps=20)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
