"""What is done with each package: a function that returns numbers, which do not depend on who differentiates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def sphere() -> Any:
    """pymanopt: the dominant eigenvector of a matrix, by conjugate gradients on a sphere."""
    import autograd.numpy as anp
    import pymanopt
    from pymanopt.manifolds import Sphere
    from pymanopt.optimizers import ConjugateGradient

    matrix = np.random.default_rng(0).normal(size=(40, 40))
    matrix = matrix + matrix.T

    @pymanopt.function.autograd(Sphere(40))
    def cost(point: Any) -> Any:
        return -point @ matrix @ point

    problem = pymanopt.Problem(Sphere(40), cost)
    start = np.ones(40) / np.sqrt(40)
    found = ConjugateGradient(verbosity=0, min_gradient_norm=1e-8).run(problem, initial_point=start)
    return [found.cost, anp.abs(found.point)]


def stiefel() -> Any:
    """pymanopt: the dominant subspace of a matrix, by trust regions (with Hessians) on the Stiefel manifold."""
    import autograd.numpy as anp
    import pymanopt
    from pymanopt.manifolds import Stiefel
    from pymanopt.optimizers import TrustRegions

    rng = np.random.default_rng(1)
    data = rng.normal(size=(60, 8)) * np.arange(1, 9)
    manifold = Stiefel(8, 2)

    @pymanopt.function.autograd(manifold)
    def cost(w: Any) -> Any:
        return anp.linalg.norm(data - data @ w @ w.T) ** 2

    start = np.linalg.qr(rng.normal(size=(8, 2)))[0]
    found = TrustRegions(verbosity=0, min_gradient_norm=1e-8).run(
        pymanopt.Problem(manifold, cost), initial_point=start
    )
    return [found.cost, found.point @ found.point.T]


def weibull() -> Any:
    """lifelines: a Weibull distribution, and a regression, on its own data."""
    from lifelines import WeibullAFTFitter, WeibullFitter
    from lifelines.datasets import load_rossi, load_waltons

    waltons = load_waltons()
    one = WeibullFitter().fit(waltons["T"], waltons["E"])
    many = WeibullAFTFitter().fit(load_rossi(), "week", "arrest")
    return [
        one.lambda_,
        one.rho_,
        one.variance_matrix_.to_numpy(),
        many.params_.to_numpy(),
        many.standard_errors_.to_numpy(),
    ]


def incomplete_gamma() -> Any:
    """autograd-gamma: the incomplete gamma function in its shape parameter, and a fit with it."""
    from autograd import grad, hessian
    from autograd_gamma import gammainc, gammaincln
    from scipy.optimize import minimize

    times = np.random.default_rng(2).gamma(2.5, 1.5, size=60)

    def censored(p: Any) -> Any:
        return -sum(gammaincln(p[0], p[1] * t) for t in times[:20])

    slope = grad(lambda a: gammainc(a, 1.5))(2.0)
    start = np.array([2.0, 1.0])
    found = minimize(
        censored,
        start,
        jac=grad(censored),
        method="L-BFGS-B",
        bounds=[(0.5, 5), (0.1, 3)],
        options={"maxiter": 5},
    )
    return [slope, found.fun, hessian(lambda a: gammainc(a, 1.5))(2.0)]


def correlated_errors() -> Any:
    """pyerrors: a fit of correlated data, whose errors are propagated by derivatives."""
    import autograd.numpy as anp
    import pyerrors

    rng = np.random.default_rng(3)
    x = np.arange(8.0)
    ys = [pyerrors.Obs([2 * np.exp(-0.3 * t) + 0.02 * rng.normal(size=400)], ["run"]) for t in x]
    for y in ys:
        y.gamma_method()
    fit = pyerrors.fits.least_squares(x, ys, lambda p, x: p[0] * anp.exp(-p[1] * x), silent=True)
    fit.gamma_method()
    return [[p.value, p.dvalue] for p in fit.fit_parameters]


def lifetimes() -> Any:
    """SurPyval: three distributions fitted to censored lifetimes, with bounds, and a proportional hazards model."""
    import surpyval

    rng = np.random.default_rng(4)
    lifetimes, is_censored = 5 * rng.weibull(1.7, size=80), (np.arange(80) % 5 == 0).astype(int)
    found: list[Any] = []
    for family in (surpyval.Weibull, surpyval.Gamma, surpyval.LogNormal):
        fit = family.fit(lifetimes, is_censored)
        found += [fit.params, fit.cb(np.array([2.0, 4.0]))]
    covariates = rng.normal(size=(80, 2))
    return [*found, surpyval.WeibullPH.fit(x=lifetimes, Z=covariates, c=is_censored).params]


def circuits() -> Any:
    """PennyLane: gradients, a Jacobian and a Hessian of circuits, and descent along them, `interface="autograd"`."""
    import pennylane
    from pennylane import numpy as qnp

    device = pennylane.device("default.qubit", wires=2)
    angles = qnp.array([0.3, 0.7], requires_grad=True)
    weights = qnp.array(0.1 * np.arange(12.0).reshape(2, 2, 3), requires_grad=True)
    found: list[Any] = []
    for method in ("backprop", "parameter-shift", "adjoint"):
        order = {"max_diff": 2} if method != "adjoint" else {}

        @pennylane.qnode(device, interface="autograd", diff_method=method, **order)
        def energy(x: Any, w: Any) -> Any:
            pennylane.RX(x[0], wires=0)
            pennylane.RY(x[1] ** 2, wires=1)
            pennylane.StronglyEntanglingLayers(w, wires=[0, 1])
            return pennylane.expval(pennylane.PauliZ(0) @ pennylane.PauliY(1) + pennylane.PauliX(1))

        found += pennylane.grad(energy)(angles, weights)
        found.append(pennylane.grad(lambda x, energy=energy: qnp.sin(energy(x, weights)) ** 2)(angles))
        if order:
            found.append(pennylane.jacobian(pennylane.grad(energy, argnums=0), argnums=0)(angles, weights))
        descent = pennylane.GradientDescentOptimizer(0.1)
        found.append(descent.step(lambda x, energy=energy: energy(x, weights), angles))
    return [np.array(x) for x in found]


WORKLOADS: dict[str, Callable[[], Any]] = {
    "pymanopt: eigenvector on a sphere": sphere,
    "pymanopt: subspace, trust regions": stiefel,
    "lifelines: Weibull fits": weibull,
    "autograd-gamma: incomplete gamma": incomplete_gamma,
    "pyerrors: correlated fit": correlated_errors,
    "SurPyval: censored lifetimes": lifetimes,
    "PennyLane: circuits, three ways to differentiate": circuits,
}
