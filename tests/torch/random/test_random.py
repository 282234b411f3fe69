"""Random numbers: the original's for the same seed, by distribution, and the stream's state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft

SIZES = (0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 100, 1000)
TOLERANCE = {"float16": 4e-3, "float32": 1e-6, "float64": 1e-13, "complex64": 1e-6, "complex128": 1e-13}
# What is drawn, as a function of torch, a number of elements and a dtype; exact: to the last bit.
DRAWS: dict[str, Callable[[Any, int, Any], Any]] = {
    "rand (exact)": lambda m, n, d: m.rand(n, dtype=d),
    "randn": lambda m, n, d: m.randn(n, dtype=d),
    "normal_": lambda m, n, d: m.empty(n, dtype=d).normal_(-0.3, 1.7),
}
REAL_DRAWS: dict[str, Callable[[Any, int, Any], Any]] = {
    "uniform_ (exact)": lambda m, n, d: m.empty(n, dtype=d).uniform_(-0.25, 1.75),
    "random_ (exact)": lambda m, n, d: m.empty(n, dtype=d).random_(),
    "random_ of a range (exact)": lambda m, n, d: m.empty(n, dtype=d).random_(-3, 4),
    "bernoulli_ (exact)": lambda m, n, d: m.empty(n, dtype=d).bernoulli_(0.3),
    "bernoulli (exact)": lambda m, n, d: m.bernoulli(m.full((n,), 0.4, dtype=d)),
    "bernoulli_ of a tensor (exact)": lambda m, n, d: m.empty(n).bernoulli_(m.full((n,), 0.4, dtype=d)),
    "geometric_ (exact)": lambda m, n, d: m.empty(n, dtype=d).geometric_(0.2),
    "exponential_": lambda m, n, d: m.empty(n, dtype=d).exponential_(2.0),
    "cauchy_": lambda m, n, d: m.empty(n, dtype=d).cauchy_(),
    "log_normal_": lambda m, n, d: m.empty(n, dtype=d).log_normal_(),
    "normal of means": lambda m, n, d: m.normal(m.linspace(0, 3, n, dtype=d), 2.0),
    "normal of deviations": lambda m, n, d: m.normal(3.0, m.linspace(0, 3, n, dtype=d)),
}
INDEX_DRAWS: dict[str, Callable[[Any, int, Any], Any]] = {
    "multinomial (exact)": lambda m, n, d: m.multinomial(m.linspace(0.1, 1, n, dtype=d), max(1, n // 2)),
    "multinomial, with replacement (exact)": lambda m, n, d: m.multinomial(
        m.linspace(0.1, 1, n, dtype=d), n + 3, True
    ),
    "multinomial, rows (exact)": lambda m, n, d: m.multinomial(
        m.linspace(0.1, 1, 3 * n, dtype=d).reshape(3, n), 1
    ),
    "poisson (exact)": lambda m, n, d: m.poisson(m.linspace(0.0, 30, n, dtype=d)),
    "randperm (exact)": lambda m, n, d: m.randperm(n),
    "normal of a size": lambda m, n, d: m.normal(3.0, 2.0, (n,), dtype=d),
    "randint, few (exact)": lambda m, n, d: m.randint(0, 5, (n,)),
    "randint, many (exact)": lambda m, n, d: m.randint(-7, 2**28 - 8, (n,)),
    "randint, too many for a word (exact)": lambda m, n, d: m.randint(-(2**40), 2**41, (n,)),
}
CASES = [
    *[(name, draw, dtype) for name, draw in DRAWS.items() for dtype in TOLERANCE],
    *[
        (name, draw, dtype)
        for name, draw in REAL_DRAWS.items()
        for dtype in ("float16", "float32", "float64")
    ],
    *[(name, draw, dtype) for name, draw in INDEX_DRAWS.items() for dtype in ("float32", "float64")],
]


@pytest.fixture
def original() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


def outcome(torch: Any, draw: Callable[..., Any], n: int, dtype: str) -> Any:
    """What is drawn, and the number after it; or the kind of the error."""
    torch.manual_seed(123)
    try:
        drawn = draw(torch, n, getattr(torch, dtype))
    except (RuntimeError, ValueError, NotImplementedError) as error:
        return type(error)
    return drawn.numpy(), torch.rand(1).item()


@pytest.mark.parametrize(
    ("name", "draw", "dtype"), CASES, ids=[f"{name}, {dtype}" for name, _, dtype in CASES]
)
def test_same_numbers_as_the_original(original: Any, name: str, draw: Callable[..., Any], dtype: str) -> None:
    for n in SIZES:
        found, expected = outcome(ft, draw, n, dtype), outcome(original, draw, n, dtype)
        if isinstance(expected, type):
            assert found is expected
            continue
        assert found[1] == expected[1], f"another place in the stream after {n} numbers"
        assert found[0].dtype == expected[0].dtype
        tolerance = 0.0 if "exact" in name else TOLERANCE[dtype]
        np.testing.assert_allclose(found[0], expected[0], rtol=tolerance, atol=tolerance)


def test_numbers_of_known_seeds() -> None:
    ft.manual_seed(0)
    np.testing.assert_allclose(ft.randn(3), [1.5410, -0.2934, -2.1788], atol=5e-5)
    assert ft.manual_seed(42) is ft.default_generator
    assert ft.randint(0, 10, (6,)).tolist() == [2, 7, 6, 4, 6, 5]
    ft.manual_seed(42)
    assert ft.randperm(6).tolist() == [0, 3, 2, 4, 1, 5]


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1, 2**32 + 7, 2**63 - 1, -1, -5])
def test_seeds(original: Any, seed: int) -> None:
    for torch in (ft, original):
        torch.manual_seed(seed)
    assert ft.initial_seed() == original.initial_seed()
    assert ft.rand(5).tolist() == original.rand(5).tolist()


PROGRAMS = [
    "",
    "m.rand(3)",
    "m.randn(3)",
    "m.randn(4)",
    "m.rand(623)",
    "m.rand(624)",
    "m.rand(625)",
    "m.randn(5); m.rand(2)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_state_is_the_originals(original: Any, program: str) -> None:
    for torch in (ft, original):
        torch.manual_seed(77)
        exec(program, {"m": torch})
    mine, theirs = ft.get_rng_state(), original.get_rng_state()
    assert mine.tolist() == theirs.tolist()
    expected = original.randn(5).numpy()
    ft.manual_seed(1)
    ft.set_rng_state(ft.tensor(theirs.numpy()))
    np.testing.assert_allclose(ft.randn(5), expected, rtol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_state_continues_the_stream(program: str) -> None:
    made = ft.Generator().manual_seed(5)
    exec(program.replace("(", "(*[").replace(")", "], generator=g)"), {"m": ft, "g": made})
    state, twin = made.get_state(), made.clone_state()
    expected = ft.randn(7, generator=made).tolist()
    assert ft.randn(7, generator=twin).tolist() == expected
    made.set_state(state)
    assert ft.randn(7, generator=made).tolist() == expected
    assert made.initial_seed() == 5


def test_generators_are_independent() -> None:
    ft.manual_seed(3)
    expected = ft.rand(2).tolist()
    ft.manual_seed(3)
    ft.rand(5, generator=ft.Generator().manual_seed(9))
    with ft.random.fork_rng():
        ft.rand(3)
    assert ft.rand(2).tolist() == expected


def test_seeds_that_nobody_knows_differ() -> None:
    first, second = ft.seed(), ft.seed()
    assert first != second
    assert ft.initial_seed() == second


ERRORS: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (ValueError, "Overflow", lambda: ft.manual_seed(2**64)),
    (RuntimeError, "less than", lambda: ft.randint(5, 3, (2,))),
    (RuntimeError, "out of bounds", lambda: ft.randint(0, 300, (2,), dtype=ft.uint8)),
    (TypeError, "size", lambda: ft.randint(0, 10)),
    (RuntimeError, "negative dimension", lambda: ft.randperm(-1)),
    (NotImplementedError, "not implemented", lambda: ft.randn(3, dtype=ft.int64)),
    (NotImplementedError, "not implemented", lambda: ft.empty(3, dtype=ft.int64).uniform_()),
    (NotImplementedError, "not implemented", lambda: ft.bernoulli(ft.tensor([1]))),
    (RuntimeError, "p_in", lambda: ft.bernoulli(ft.tensor([1.5]))),
    (RuntimeError, "from", lambda: ft.empty(3).uniform_(2, 1)),
    (RuntimeError, "std", lambda: ft.normal(0.0, -1.0, (2,))),
    (RuntimeError, "lambda", lambda: ft.empty(2).exponential_(-1.0)),
    (RuntimeError, "geometric_", lambda: ft.empty(2).geometric_(1.5)),
    (RuntimeError, "n_sample", lambda: ft.multinomial(ft.tensor([0.5, 0.5]), 3)),
    (RuntimeError, "element < 0", lambda: ft.multinomial(ft.tensor([-0.5, 0.5]), 1)),
    (RuntimeError, "sum of probabilities", lambda: ft.multinomial(ft.tensor([0.0, 0.0]), 1)),
    (RuntimeError, "non-negative", lambda: ft.poisson(ft.tensor([-1.0]))),
    (TypeError, "ByteTensor", lambda: ft.set_rng_state(ft.zeros(4))),
    (RuntimeError, "size", lambda: ft.set_rng_state(ft.zeros(4, dtype=ft.uint8))),
    (RuntimeError, "leaf Variable", lambda: ft.ones(2, requires_grad=True).uniform_()),
]


@pytest.mark.parametrize(("kind", "text", "call"), ERRORS, ids=[f"{k.__name__} {t}" for k, t, _ in ERRORS])
def test_errors(kind: type[Exception], text: str, call: Callable[[], Any]) -> None:
    with pytest.raises(kind, match=text):
        call()


NODES = ["uniform_", "normal_", "exponential_", "bernoulli_", "bernoulli", "cauchy_", "geometric_"]


@pytest.mark.parametrize("method", NODES)
def test_no_gradient_flows_through_numbers_that_were_drawn(original: Any, method: str) -> None:
    names = []
    for torch in (ft, original):
        x = torch.ones(3, requires_grad=True)
        y = getattr(x * 0.5, method)(*([0.5] if method == "geometric_" else []))
        names.append(type(y.grad_fn).__name__)
        y.sum().backward()
        assert x.grad.tolist() == [0, 0, 0]
    assert names[0] == names[1]


@pytest.mark.parametrize("given", ["mean", "std", "both"])
def test_numbers_are_not_differentiable_in_mean_or_std(original: Any, given: str) -> None:
    names = []
    for torch in (ft, original):
        mean, std = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
        y = torch.normal(2.0 if given == "std" else mean, 2.0 if given == "mean" else std)
        names.append(type(y.grad_fn).__name__)
        y.sum().backward()
        assert all(x.grad is None or x.grad.tolist() == [0, 0, 0] for x in (mean, std))
        assert (mean.grad is None, std.grad is None) == (given == "std", given == "mean")
    assert names[0] == names[1]


def test_weights_are_drawn_to_the_last_bit() -> None:
    torch = pytest.importorskip("torch", reason="the original is not installed")
    drawn = []
    for lib in (ft, torch):
        lib.manual_seed(0)
        drawn.append(
            [lib.empty(1000).uniform_(-0.19245, 0.19245).numpy(), lib.nn.Linear(7, 5).weight.detach().numpy()]
        )
    for x, y in zip(*drawn, strict=True):
        np.testing.assert_array_equal(x, y)
