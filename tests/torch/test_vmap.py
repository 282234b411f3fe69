"""torch.func.vmap: Functions with rules, random numbers, chunks, writes, also to captured tensors."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad.torch

torch: Any = funcgrad.torch
vmap, grad = torch.func.vmap, torch.func.grad


class Cube(torch.autograd.Function):
    """x**3, with a rule for vmap that notes how it was called."""

    seen: list[Any] = []  # noqa: RUF012 (shared on purpose)

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        Cube.seen.append((info.batch_size, in_dims, tuple(x.shape)))
        return Cube.apply(x), in_dims[0]


X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_a_rule_for_vmap_sees_all_examples_at_once() -> None:
    Cube.seen.clear()
    x = torch.tensor(X, dtype=torch.float64)
    assert vmap(Cube.apply)(x).tolist() == (x**3).tolist()
    assert Cube.seen == [(3, (0,), (3, 2))]
    assert vmap(vmap(Cube.apply))(x).tolist() == (x**3).tolist()
    assert [call[0] for call in Cube.seen[1:]] == [2, 3]


def test_a_rule_for_vmap_inside_and_outside_of_grad() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    expected = [3, 12]
    assert vmap(grad(Cube.apply))(x).tolist() == expected
    assert grad(lambda x: vmap(Cube.apply)(x).sum())(x).tolist() == expected
    leaf = x.clone().requires_grad_()
    vmap(Cube.apply)(leaf).sum().backward()
    assert leaf.grad.tolist() == expected


def test_two_rules_for_vmap_are_refused() -> None:
    class Both(Cube):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and"):
        vmap(Both.apply)(torch.ones(2))


RANDOM = {
    "rand": lambda x: torch.rand(4) + x,
    "randn": lambda x: torch.randn(4) + x,
    "rand_like": lambda x: torch.rand_like(x.expand(4)) + x,
    "randint": lambda x: torch.randint(0, 10**6, (4,)) + x,
    "randperm": lambda x: torch.randperm(50)[:4] + x,
    "normal": lambda x: torch.normal(0.0, 1.0, (4,)) + x,
    "bernoulli": lambda x: torch.bernoulli(torch.full((64,), 0.5)) + x,
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers(name: str) -> None:
    f, x = RANDOM[name], torch.zeros(3)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(f)(x)
    torch.manual_seed(0)
    same = vmap(f, randomness="same")(x)
    torch.manual_seed(0)
    assert same.tolist() == [f(torch.zeros(())).tolist()] * 3
    different = vmap(f, randomness="different")(x)
    assert len({tuple(row) for row in different.tolist()}) == 3
    nested = vmap(vmap(f, randomness="different"), randomness="same")(torch.zeros(2, 3))
    assert nested[0].tolist() == nested[1].tolist()
    assert nested[0][0].tolist() != nested[0][1].tolist()


@pytest.mark.parametrize(
    "f", [lambda x: torch.multinomial(torch.ones(5), 2), lambda x: torch.zeros(3).uniform_() + x]
)
def test_what_gives_all_the_same_numbers_is_not_different(f: Any) -> None:
    with pytest.raises(RuntimeError, match="randomness='same'"):
        vmap(f, randomness="different")(torch.zeros(3))
    assert len({tuple(row) for row in vmap(f, randomness="same")(torch.zeros(3)).tolist()}) == 1


def test_probabilities_that_differ_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"torch\.rand\(p\.shape\) < p"):
        vmap(torch.bernoulli, randomness="different")(torch.ones(3))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_chunks(size: int) -> None:
    x, y = torch.arange(12.0).reshape(3, 4), torch.tensor(2.0)

    def f(x: Any, y: Any) -> Any:
        return x * y, {"sum": x.sum()}

    found = vmap(f, in_dims=(1, None), out_dims=(1, 0), chunk_size=size)(x, y)
    expected = vmap(f, in_dims=(1, None), out_dims=(1, 0))(x, y)
    assert found[0].tolist() == expected[0].tolist()
    assert found[1]["sum"].tolist() == expected[1]["sum"].tolist()


def test_what_is_made_inside_may_be_written_to() -> None:
    def f(x: Any) -> Any:
        out = torch.zeros(2)
        out[0] = x
        out.add_(x)
        return out

    assert vmap(f)(torch.tensor([1.0, 2.0])).tolist() == [[2, 1], [4, 2]]
    assert torch.func.jacrev(f)(torch.tensor(1.0)).tolist() == [2, 1]


@pytest.mark.parametrize("transform", [grad, vmap, torch.func.jacfwd, torch.func.hessian])
def test_a_write_to_what_is_captured_is_refused_and_taken_back(transform: Any) -> None:
    held = torch.zeros(2)
    view = held[:1]

    def f(x: Any) -> Any:
        view.add_(x.sum())
        return x.sum()

    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        transform(f)(torch.ones(2))
    assert held.tolist() == [0, 0]
    assert view.tolist() == [0]


def test_questions_are_refused_by_name() -> None:
    with pytest.raises(RuntimeError, match=r"calling \.item\(\) on a Tensor.*torch\.where"):
        vmap(lambda x: x.item())(torch.ones(2))
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        vmap(lambda x: x if x > 0 else -x)(torch.ones(2))


def test_named_blocks_are_timed() -> None:
    profiler = torch.autograd.profiler
    with profiler.profile() as found:
        for _ in range(2):
            with profiler.record_function("outer"), profiler.record_function("inner"):
                torch.ones(2).sum()
    with profiler.record_function("unseen"):
        torch.ones(2).sum()
    events = {event.key: event for event in found.key_averages()}
    assert {key: event.count for key, event in events.items()} == {"outer": 2, "inner": 2}
    assert events["outer"].cpu_time_total >= events["inner"].cpu_time_total > 0
    assert found.table(sort_by="cpu_time_total").split("\n")[1].startswith("outer")
