"""Saved values that hooks have packed are given back, however often and by whatever way they are asked for."""

import numpy as np

import funcgrad.torch as torch


def test_what_is_packed_is_unpacked_however_often():
    """A pull that is made after many calls is not for plans whose saved values are packed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        outs = [torch.relu(x * 3).exp() for _ in range(250)]
    for out in outs:
        x.grad = None
        out.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 3 * np.exp([3.0, 6.0]), rtol=1e-5)
