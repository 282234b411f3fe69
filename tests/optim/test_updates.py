"""The pure update rules: against formulas written down singly, on all parameters, and differentiated."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest

from funcgrad import grad, optim, tree, value_and_grad, vmap
from funcgrad.errors import CotangentError, NonDifferentiableError
from funcgrad.testing import check_grads

OPTIONS = {
    "sgd": optim.SGD(0.1),
    "momentum": optim.SGD(0.1, momentum=0.9, dampening=0.2, weight_decay=0.1),
    "nesterov": optim.SGD(0.1, momentum=0.9, nesterov=True, maximize=True),
    "asgd": optim.ASGD(0.1, t0=2, lambd=0.01),
    "rprop": optim.Rprop(0.1),
    "adam": optim.Adam(0.1, weight_decay=0.1),
    "amsgrad": optim.Adam(0.1, amsgrad=True, betas=(0.5, 0.6)),
    "adamw": optim.AdamW(0.1),
    "adamax": optim.Adamax(0.1),
    "nadam": optim.NAdam(0.1),
    "radam": optim.RAdam(0.1, betas=(0.9, 0.9), decoupled_weight_decay=True, weight_decay=0.1),
    "rmsprop": optim.RMSprop(0.1),
    "centered": optim.RMSprop(0.1, centered=True, momentum=0.5),
    "adagrad": optim.Adagrad(0.1, lr_decay=0.1),
    "adadelta": optim.Adadelta(1.0),
}
every = pytest.mark.parametrize("optimizer", OPTIONS.values(), ids=OPTIONS)


def loss(w):
    return np.sum(w**2 + w[0] * w[1])


def run(optimizer, w, steps=5, fun=loss):
    state = optimizer.init(w)
    for _ in range(steps):
        w, state = optimizer.update(grad(fun)(w), state, w)
    return w


# ---- values ----------------------------------------------------------------------------------------------------------
# Five steps of lr 0.1 from [1, -2] on `loss`, as PyTorch 2.13 makes them in float64.
REFERENCE = {
    optim.SGD(0.1): [1.46112, -1.53888],
    optim.SGD(0.1, momentum=0.9): [1.8645, -1.1355],
    optim.Adam(0.1): [1.472185551209458, -1.527814448790542],
    optim.AdamW(0.1): [1.465986785728414, -1.519043184286583],
    optim.RMSprop(0.1): [1.5103457485, -1.4896542515],
    optim.Adagrad(0.1): [1.2773082157, -1.7226917843],
    optim.Adamax(0.1): [1.3998162778, -1.6001837222],
    optim.NAdam(0.1): [1.3403609308, -1.6596390692],
    optim.RAdam(0.1): [1.6265765183, -1.3734234817],
}


@pytest.mark.parametrize(("optimizer", "expected"), REFERENCE.items(), ids=lambda x: type(x).__name__)
def test_five_steps(optimizer, expected):
    start = np.array([1.0, -2.0])
    # whose product of momenta PyTorch keeps in float32
    rtol = 1e-8 if type(optimizer) is optim.NAdam else 5e-11
    np.testing.assert_allclose(run(optimizer, start), expected, rtol=rtol)
    assert start.tolist() == [1.0, -2.0]


def test_adam_is_its_formula():
    x, m, v = 0.3, 0.0, 0.0
    slow, fast, eps, lr = 0.9, 0.99, 1e-6, 0.01
    rng = np.random.default_rng(0)
    optimizer = optim.Adam(lr, (slow, fast), eps)
    w, state = np.array(x), optimizer.init(np.array(x))
    for step in range(1, 6):
        y = rng.normal()
        m, v = slow * m + (1 - slow) * y, fast * v + (1 - fast) * y * y
        x -= lr * (m / (1 - slow**step)) / (np.sqrt(v / (1 - fast**step)) + eps)
        w, state = optimizer.update(np.array(y), state, w)
        np.testing.assert_allclose(w, x, rtol=1e-13)
    assert state.step == 5


def test_averaged_sgd_averages_its_iterates_from_the_second_on():
    optimizer = optim.ASGD(0.1, lambd=0.0, t0=0)
    w, seen = np.array([4.0]), []
    state = optimizer.init(w)
    for _ in range(6):
        w, state = optimizer.update(w, state, w)
        seen.append(w)
    np.testing.assert_allclose(state.slots["ax"], np.mean(seen[1:], axis=0))


def test_rprop_grows_and_shrinks_its_steps():
    optimizer, sizes = optim.Rprop(0.1), []
    w = np.array([0.0])
    state = optimizer.init(w)
    for sign in (1.0, 1.0, -1.0, -1.0):
        before = w
        w, state = optimizer.update(np.array([sign]), state, w)
        sizes.append((w - before).item())
    np.testing.assert_allclose(sizes, [-0.1, -0.12, 0.0, 0.06])


@every
def test_every_rule_descends(optimizer):
    if optimizer.maximize:
        optimizer = dataclasses.replace(optimizer, maximize=False)
    start = np.array([1.0, -2.0])
    assert loss(run(optimizer, start, 30)) < loss(start)


# ---- one implementation, two ways ------------------------------------------------------------------------------------
@every
def test_in_place_is_the_same_to_the_last_bit_and_allocates_nothing(optimizer):
    rng = np.random.default_rng(1)
    w = rng.normal(size=(300, 500)).astype(np.float32)
    gradients = [rng.normal(size=w.shape).astype(np.float32) for _ in range(3)]
    pure, state = w.copy(), optimizer.init(w)
    mine, held = w.copy(), optimizer.init(w)
    for i, gradient in enumerate(gradients):
        pure, state = optimizer.update(gradient, state, pure)
        if i == 2:
            tracemalloc.start()
        held = optimizer.update_in_place(gradient, held, mine)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000, "a twelfth of one parameter"
    np.testing.assert_array_equal(mine, pure)
    tree.map(np.testing.assert_array_equal, held, state)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_layout_and_blocks_do_not_matter(optimizer, dtype):
    rng = np.random.default_rng(2)
    w, gradient = (
        rng.normal(size=(2, 70, 1000)).astype(dtype) * (1 + 0.5j if dtype == np.complex128 else 1)
        for _ in range(2)
    )
    state = optimizer.init(w[0])
    expected, _ = optimizer.update(gradient[0], state, w[0])
    for layout in (lambda x: np.asfortranarray(x), lambda x: np.repeat(x, 2, axis=1)[:, ::2]):
        found, _ = optimizer.update(gradient[0], optimizer.init(layout(w[0])), layout(w[0]))
        np.testing.assert_array_equal(found, expected)
        found, _ = optimizer.update(layout(gradient[0]), state, w[0])
        np.testing.assert_array_equal(found, expected)
    assert expected.dtype == dtype


@every
def test_the_formula_on_tracers_is_the_formula_on_arrays(optimizer):
    w = np.array([0.5, -1.5, 2.0])
    batch = np.stack([w, 2 * w])
    found = vmap(lambda start: run(optimizer, start, 4, lambda w: np.sum(w**3)))(batch)
    np.testing.assert_allclose(
        found, [run(optimizer, start, 4, lambda w: np.sum(w**3)) for start in batch], rtol=1e-13
    )


# ---- derivatives through updates -------------------------------------------------------------------------------------
@every
def test_a_gradient_through_three_updates(optimizer):
    check_grads(
        lambda start: run(optimizer, start, 3, lambda w: np.sum(w**3)),
        (np.array([0.7, -1.2, 1.9]),),
        modes=("rev",),
    )


@pytest.mark.parametrize(
    "make", [lambda lr: optim.SGD(lr, momentum=0.5), optim.Adam, optim.RMSprop, optim.NAdam]
)
def test_a_gradient_with_respect_to_the_learning_rate(make):
    check_grads(lambda lr: run(make(lr), np.array([1.0, -2.0]), 3), (0.1,), modes=("rev",))


def test_a_weight_decay_of_zero_has_a_derivative():
    found = grad(
        lambda decay: run(optim.SGD(0.1, weight_decay=decay), np.array([3.0]), 1, lambda w: np.sum(0 * w))[0]
    )(0.0)
    np.testing.assert_allclose(found, -0.3)


def test_elements_without_a_gradient_do_not_spoil_derivatives():
    found = grad(lambda start: run(optim.Adam(0.1), start, 2, lambda w: w[0] ** 2)[0])(np.array([1.0, 2.0]))
    assert np.isfinite(found).all()


# ---- pytrees, schedules, dtypes --------------------------------------------------------------------------------------
def test_parameters_are_pytrees_and_keep_their_kinds():
    params = {"w": np.ones((2, 2), np.float32), "b": 1.0, "c": (np.float64(2.0), np.zeros(()), None)}
    optimizer = optim.Adam()
    gradients = tree.map(lambda x: np.ones(np.shape(x)), params)
    after, state = optimizer.update(gradients, optimizer.init(params), params)
    assert tree.structure(after) == tree.structure(params)
    assert after["w"].dtype == np.float32
    assert isinstance(after["c"][1], np.ndarray)
    assert isinstance(after["b"], np.float64)
    assert tree.structure(state.slots["exp_avg"]) == tree.structure(params)


def test_schedules_are_asked_for_each_update():
    seen = []

    def schedule(step):
        seen.append(step)
        return 1.0 / (1 + step)

    w = run(optim.SGD(schedule), np.zeros(1), 3, lambda w: -np.sum(w))
    np.testing.assert_allclose(w, 1 + 1 / 2 + 1 / 3)
    assert seen == [0, 0, 1, 2]
    beta = run(optim.Adam(0.1, betas=(lambda step: 0.9, 0.999)), np.array([1.0, -2.0]))
    np.testing.assert_array_equal(beta, run(optim.Adam(0.1), np.array([1.0, -2.0])))


def test_complex_parameters_descend_along_the_conjugate():
    def distance(z):
        return np.sum(abs(z - (3 - 1j)) ** 2)

    for optimizer in (optim.SGD(0.1), optim.Adam(0.1), optim.Rprop(0.1)):
        np.testing.assert_allclose(run(optimizer, np.array([1.0 + 2.0j]), 150, distance), 3 - 1j, atol=0.02)


# ---- errors ----------------------------------------------------------------------------------------------------------
def test_errors_say_what_to_do():
    optimizer = optim.SGD(0.1, momentum=0.9)
    with pytest.raises(NonDifferentiableError, match=r"params\['n'\] has dtype int64.*astype\(float\)"):
        optimizer.init({"n": np.arange(3)})
    w, state = np.ones(2), optimizer.init(np.ones(2))
    with pytest.raises(CotangentError, match=r"shape \(3,\), its parameter \(2,\)"):
        optimizer.update(np.ones(3), state, w)
    with pytest.raises(ValueError, match="gradients"):
        optimizer.update([w], state, w)
    with pytest.raises(ValueError, match=r"no momentum_buffer.*init"):
        optimizer.update(w, optim.SGD(0.1).init(w), w)
    with pytest.raises(TypeError, match="writable"):
        optimizer.update_in_place(1.0, optimizer.init(1.0), 1.0)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        optim.Adam(-1)


# ---- L-BFGS ----------------------------------------------------------------------------------------------------------
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_minimize_finds_minima():
    found = optim.minimize(rosenbrock, np.zeros(20), tolerance=1e-9)
    assert found.converged
    np.testing.assert_allclose(found.params, 1, atol=1e-8)
    value, gradient = value_and_grad(rosenbrock)(found.params)
    assert found.value == value
    np.testing.assert_array_equal(found.gradient, gradient)


def test_a_quadratic_ends_after_as_many_steps_as_dimensions():
    a = np.diag([1.0, 10.0, 100.0])
    found = optim.minimize(
        lambda x: x["u"] @ a @ x["u"] / 2 - np.sum(x["u"]), {"u": np.zeros(3)}, tolerance=1e-10
    )
    np.testing.assert_allclose(found.params["u"], [1, 0.1, 0.01], rtol=1e-9)
    assert found.calls < 40


def test_complex_and_nested_parameters():
    found = optim.minimize(
        lambda p: abs(p["z"] - (1 + 2j)) ** 2 + (p["x"][0] - 3) ** 2, {"z": 0j, "x": (1.0,)}
    )
    np.testing.assert_allclose([found.params["z"], found.params["x"][0]], [1 + 2j, 3], atol=1e-6)


@pytest.mark.parametrize("length", [1e-3, 1.0, 50.0])
def test_every_step_satisfies_the_strong_wolfe_conditions(length):
    from funcgrad.optim.wolfe import CURVATURE, DECREASE, Trial, search

    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.normal(size=3)

        def at(t, x=x):
            value, gradient = value_and_grad(rosenbrock)(x - t * step)
            return Trial(t, float(value), gradient, float(gradient @ -step))

        step = grad(rosenbrock)(x)
        step = step / np.abs(step).max()
        start = at(0.0)
        chosen, made = search(at, start, length, 1.0)
        assert made <= 26
        assert chosen.value <= start.value + DECREASE * chosen.length * start.slope
        assert abs(chosen.slope) <= -CURVATURE * start.slope


def test_the_steps_of_lbfgs_are_not_differentiated():
    with pytest.raises(NonDifferentiableError, match=r"funcgrad\.root"):
        grad(lambda x: optim.minimize(lambda w: np.sum((w - x) ** 2), x).value)(np.ones(2))


def test_each_optimizer_has_its_name_in_small_letters() -> None:
    for name in set(optim.__all__) - {"Optimizer"}:
        made = getattr(optim, name)
        if isinstance(made, type) and issubclass(made, optim.Optimizer | optim.LBFGS):
            assert getattr(optim, name.lower()) is made
