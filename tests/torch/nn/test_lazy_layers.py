"""Layers that find their channels at the first call: the same numbers as those that were told."""

import numpy as np
import pytest

import funcgrad.torch as torch

nn = torch.nn
LAYERS = {
    **{f"Conv{d}d": ((4, 3), {"padding": 1, "bias": d != 2}, (2, 3, *[5] * d)) for d in (1, 2, 3)},
    **{f"ConvTranspose{d}d": ((4, 3), {"stride": 2}, (2, 3, *[4] * d)) for d in (1, 2, 3)},
    **{f"BatchNorm{d}d": ((), {}, (2, 3, *[4] * d)) for d in (1, 2, 3)},
    **{f"InstanceNorm{d}d": ((), {"affine": True}, (2, 3, *[4] * d)) for d in (1, 2, 3)},
}


@pytest.mark.parametrize("name", LAYERS)
def test_the_numbers_are_those_of_the_layer(name):
    args, options, shape = LAYERS[name]
    torch.manual_seed(0)
    x = torch.randn(*shape)
    lazy = getattr(nn, f"Lazy{name}")(*args, **options)
    optimizer = torch.optim.SGD(lazy.parameters(), lr=0.1)
    torch.manual_seed(1)
    out = lazy(x)
    torch.manual_seed(1)
    told = getattr(nn, name)(3, *args, **options)
    np.testing.assert_array_equal(out.detach().numpy(), told(x).detach().numpy())
    assert type(lazy) is type(told)
    assert repr(lazy) == repr(told)
    assert [n for n, _ in lazy.state_dict().items()] == [n for n, _ in told.state_dict().items()]
    out.sum().backward()
    optimizer.step()  # of the parameters that were there before
    assert all(p.grad is not None for p in optimizer.param_groups[0]["params"])


def test_before_the_first_call():
    lazy = nn.LazyConv2d(8, 3)
    assert lazy.has_uninitialized_params()
    assert repr(lazy) == "LazyConv2d(0, 8, kernel_size=(3, 3), stride=(1, 1))"
    with pytest.raises((RuntimeError, ValueError), match="ninitialized"):
        lazy.weight + 1


def test_no_numbers_are_drawn_before_the_first_call():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    nn.LazyConv2d(8, 3)
    np.testing.assert_array_equal(torch.rand(3).numpy(), expected.numpy())


def test_an_example_without_a_batch():
    lazy = nn.LazyConv2d(2, 3)
    assert lazy(torch.zeros(5, 4, 4)).shape == (2, 2, 2)
    assert lazy.in_channels == 5
