"""Schedules of learning rates, and averages of models: the same sequences, states and texts as the original."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import funcgrad.torch as ft

SCHEDULES = {
    "lambda": lambda L, o: L.LambdaLR(o, [lambda n: 0.9**n, lambda n: 1 / (1 + n)]),
    "multiplicative": lambda L, o: L.MultiplicativeLR(o, lambda n: 0.9),
    "step": lambda L, o: L.StepLR(o, 3, 0.5),
    "multistep": lambda L, o: L.MultiStepLR(o, [2, 5, 5, 9]),
    "constant": lambda L, o: L.ConstantLR(o),
    "linear": lambda L, o: L.LinearLR(o, 0.1, 0.8, 7),
    "exponential": lambda L, o: L.ExponentialLR(o, 0.9),
    "cosine": lambda L, o: L.CosineAnnealingLR(o, 5, 0.01),
    "restarts": lambda L, o: L.CosineAnnealingWarmRestarts(o, 3, 2, 0.001),
    "polynomial": lambda L, o: L.PolynomialLR(o, 8, 2.0),
    "cyclic": lambda L, o: L.CyclicLR(o, [0.01, 0.02], 0.1, 3, 5),
    "cyclic2": lambda L, o: L.CyclicLR(o, 0.01, [0.1, 0.3], 3, mode="triangular2"),
    "cyclicexp": lambda L, o: L.CyclicLR(o, 0.01, 0.1, 4, mode="exp_range", gamma=0.9),
    "onecycle": lambda L, o: L.OneCycleLR(o, 0.5, 30),
    "onecycle3": lambda L, o: L.OneCycleLR(
        o, [0.5, 0.4], epochs=5, steps_per_epoch=6, three_phase=True, anneal_strategy="linear"
    ),
    "sequential": lambda L, o: L.SequentialLR(
        o,
        [L.LinearLR(o, 0.1, total_iters=4), L.ExponentialLR(o, 0.9), L.CosineAnnealingWarmRestarts(o, 3)],
        [4, 9],
    ),
    "nested": lambda L, o: L.SequentialLR(
        o, [L.SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.StepLR(o, 2)], [3]), L.CosineAnnealingLR(o, 5)], [7]
    ),
    "chained": lambda L, o: L.ChainedScheduler(
        [L.ConstantLR(o, 0.5, 4), L.ExponentialLR(o, 0.9), L.CosineAnnealingLR(o, 9)]
    ),
}
MEASURES = [1, 0.9, 0.9, 0.9, 0.9, 0.95, 0.5, 0.5, 0.5, 0.5, 0.5, 0.7, 0.2, 0.1, 0.1, 0.1, 0.1] * 2


@pytest.fixture(scope="module")
def original():
    return pytest.importorskip("torch", reason="the original is not installed")


def optimizer_of(torch, name):
    first, second = (torch.ones(2, requires_grad=True) for _ in range(2))
    return getattr(torch.optim, name)(
        [{"params": [first]}, {"params": [second], "lr": 0.3}], lr=0.1, **MOMENTUM.get(name, {})
    )


MOMENTUM = {"SGD": {"momentum": 0.9}}


def followed(torch, schedule, name, steps=28):
    optimizer = optimizer_of(torch, name)
    scheduler = schedule(torch.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(steps):
        momenta = [group.get("momentum") or group["betas"][0] for group in optimizer.param_groups]
        seen.append([*scheduler.get_last_lr(), *(group["lr"] for group in optimizer.param_groups), *momenta])
        optimizer.step()
        scheduler.step()
    return seen, scheduler.state_dict(), [list(group) for group in optimizer.param_groups]


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_sequences_are_those_of_the_original(original, schedule, name):
    seen, state, keys = followed(ft, schedule, name)
    expected, expected_state, expected_keys = followed(original, schedule, name)
    np.testing.assert_allclose(seen, expected, rtol=1e-13, atol=0)
    assert set(state) == set(expected_state)
    assert keys == expected_keys


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1},
        {"patience": 2, "mode": "max"},
        {"patience": 1, "cooldown": 2, "threshold_mode": "abs", "threshold": 0.05},
        {"patience": 0, "min_lr": [0.01, 0.001], "factor": 0.5},
    ],
)
def test_plateaus_are_noticed_as_by_the_original(original, options):
    found = []
    for torch in (ft, original):
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer_of(torch, "SGD"), **options)
        seen = []
        for measure in MEASURES:
            scheduler.step(torch.tensor(measure))
            seen.append([*scheduler.get_last_lr(), scheduler.num_bad_epochs, scheduler.cooldown_counter])
        found.append((seen, scheduler.state_dict()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_a_schedule_goes_on_from_its_state(schedule):
    expected = followed(ft, schedule, "SGD", 20)[0]
    _, state, _ = followed(ft, schedule, "SGD", 7)
    optimizer = optimizer_of(ft, "SGD")
    scheduler = schedule(ft.optim.lr_scheduler, optimizer)
    scheduler.load_state_dict(state)
    for group, lr in zip(optimizer.param_groups, scheduler.get_last_lr(), strict=True):
        group["lr"] = lr
    optimizer.step()
    for row in expected[8:]:
        scheduler.step()
        np.testing.assert_allclose(scheduler.get_last_lr(), row[:2], rtol=1e-13)


PROGRAMS = [
    "L.StepLR(3, 1)",
    "L.StepLR(o, 1, last_epoch=3)",
    "L.LambdaLR(o, [1, 2])",
    "L.ConstantLR(o, 2.0)",
    "L.LinearLR(o, 2.0)",
    "L.LinearLR(o, 0.5, 2.0)",
    "L.OneCycleLR(o, 0.1)",
    "L.OneCycleLR(o, 0.1, total_steps=-3)",
    "L.OneCycleLR(o, 0.1, total_steps=3, pct_start=2.0)",
    "L.OneCycleLR(o, 0.1, total_steps=3, anneal_strategy='z')",
    "L.OneCycleLR(o, [0.1, 0.2], total_steps=3)",
    "L.CyclicLR(o, 0.1, 0.2, mode='x')",
    "L.CyclicLR(torch.optim.Rprop([w]), 0.1, 0.2)",
    "L.ReduceLROnPlateau(o, factor=2)",
    "L.ReduceLROnPlateau(o, mode='x')",
    "L.ReduceLROnPlateau(o, min_lr=[1, 2])",
    "L.CosineAnnealingWarmRestarts(o, 0)",
    "L.CosineAnnealingWarmRestarts(o, 3).step(-1)",
    "L.SequentialLR(o, [], [])",
    "L.SequentialLR(o, [L.StepLR(o, 1)], [1, 2])",
    "L.ChainedScheduler([])",
    "s = L.StepLR(o, 1)\ns.step()",
    "s = L.StepLR(o, 1)\no.step()\ns.step()\ns.get_lr()",
    "s = L.StepLR(o, 2)\no.step()\ns.step(5)\nprint(s.get_last_lr())",
    "s = L.OneCycleLR(o, 0.1, total_steps=2)\nfor _ in range(4): o.step(); s.step()",
    "s = L.CosineAnnealingWarmRestarts(o, 3, 2)\nfor e in (0.5, 4.25, 11): s.step(e); print('%.12f' % s.get_last_lr()[0])",
    "o = torch.optim.SGD([w], lr=torch.tensor(0.5))\ns = L.ExponentialLR(o, 0.5)\no.step(); s.step(); print(o)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_original_says_the_same(same, program):
    same(
        f"w = torch.ones(2, requires_grad=True)\no = torch.optim.SGD([w], lr=0.1)\nL = torch.optim.lr_scheduler\n{program}"
    )


def test_the_right_order_does_not_warn():
    optimizer = optimizer_of(ft, "SGD")
    scheduler = ft.optim.lr_scheduler.StepLR(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        scheduler.step()


# ---- averages of models ----------------------------------------------------------------------------------------------
def averaged(torch, **options):
    model = torch.nn.Linear(2, 1)
    average = torch.optim.swa_utils.AveragedModel(model, **options)
    for n in range(4):
        with torch.no_grad():
            for p in model.parameters():
                p.fill_(float(n * n))
        average.update_parameters(model)
    return [
        average.module.weight[0, 0].item(),
        average(torch.ones(1, 2)).item(),
        int(average.n_averaged),
        [*average.state_dict()],
    ]


def test_averaged_models(original):
    utils = ft.optim.swa_utils
    assert averaged(ft)[0] == pytest.approx((0 + 1 + 4 + 9) / 4)
    for name in ("avg_fn", "multi_avg_fn"):
        options = {name: getattr(utils, f"get_ema_{name}")(0.5)}
        expected = averaged(original, **{name: getattr(original.optim.swa_utils, f"get_ema_{name}")(0.5)})
        np.testing.assert_allclose(averaged(ft, **options)[:3], expected[:3], rtol=1e-6)
        assert averaged(ft, **options)[3] == expected[3]


def test_swalr_is_that_of_the_original(original):
    rates = []
    for torch in (ft, original):
        optimizer = optimizer_of(torch, "SGD")
        scheduler = torch.optim.swa_utils.SWALR(optimizer, 0.05, 5)
        rates.append([])
        for _ in range(9):
            rates[-1].append(scheduler.get_last_lr())
            optimizer.step()
            scheduler.step()
    np.testing.assert_allclose(*rates, rtol=1e-12)
