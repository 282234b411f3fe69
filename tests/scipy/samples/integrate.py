"""Samples of scipy.integrate."""

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.scipy import integrate
from tests.rules.samples import A, S

TIGHT = {"rtol": 1e-11, "atol": 1e-12}
Y0, K = np.array([1.0, 0.5]), np.array([0.7, 1.2])
T = np.linspace(0.0, 1.5, 4)
wave = lambda t, y, a, b: fnp.stack([y[1], -a * y[0] - b * t * y[1]])
stiff = lambda t, y, a, b: fnp.stack([-1e4 * a * (y[0] - np.cos(t)), b * y[0] - y[1]])


def of(label, function, *args, order=2, tol=3e-6, vmap=False):
    return S(function, *args).but(label=label, order=order, tol=tol, vmap=vmap, float32=False)


def ivp(method, f=wave, order=1, tol=1e-5, **options):
    run = lambda y, k: (
        integrate.solve_ivp(f, (0.0, 1.5), y, method, t_eval=T, args=(k[0], k[1]), **TIGHT, **options).y
    )
    return of(f"solve_ivp by {method}", run, Y0, K, order=order, tol=tol)


def crossing(t, y, a, b):
    return y[0] - 0.3


crossing.terminal = True
watched = lambda t, y, a, b: y[0] - 0.6
SAMPLES = [
    S(integrate.trapezoid, A(3, 4), A(4)), S(integrate.simpson, A(3, 5), axis=1), S(integrate.simpson, A(4), np.array([0.0, 0.4, 1.1, 1.5])),
    S(integrate.cumulative_trapezoid, A(3, 4), dx=0.3, initial=0), S(integrate.cumulative_simpson, A(5), dx=0.3), S(integrate.romb, A(5), dx=0.2),
    of("quad", lambda a, b, c: integrate.quad(lambda t, c: np.exp(-c * t), a, b, args=(c,))[0], 0.2, 1.7, 0.8, vmap=True),
    of("quad to infinity", lambda a, c: integrate.quad(lambda t: np.sum(np.exp(-c * t)), a, np.inf)[0], 0.2, K, vmap=True),
    of("quad of the line", lambda c: integrate.quad(lambda t: np.exp(-c * t**2), -np.inf, np.inf)[0], 0.8, vmap=True),
    *[of(f"quad with weight {w}", lambda a, b, w=w, v=v: integrate.quad(lambda t: np.exp(-a * t) * b, 0.1, 1.3, weight=w, wvar=v)[0], 0.7, 1.1, tol=3e-5, order=1)
      for w, v in (("sin", 3.0), ("cauchy", 0.6), ("alg", (0.5, 1.0)))],
    of("a kink", lambda a, c: integrate.quad(lambda t: c * abs(t - 0.7), a, 1.5, points=[0.7])[0], 0.2, 0.8),
    of("a singular end", lambda a, b: integrate.quad(lambda t: np.cos(a * t) / np.sqrt(t), 0, b)[0], 0.7, 1.2, tol=1e-5, order=1),
    of("dblquad", lambda a, b: integrate.dblquad(lambda y, x: np.exp(-a * x * y), 0, b, 0, lambda x: 1 + a * x)[0], 0.7, 1.1, order=1),
    of("fixed_quad", lambda a, b, c: integrate.fixed_quad(lambda t: np.exp(-c * t), a, b, n=4)[0], 0.2, 1.7, 0.8, vmap=True),
    of("quad_vec", lambda b, c: integrate.quad_vec(lambda t: np.exp(-c * t), 0.1, b)[0], 1.3, K),
    of("cubature", lambda b, c: integrate.cubature(lambda x, c: np.exp(-c * x[:, 0] * x[:, 1]), [0.0, 0.0], b, args=(c,)).estimate, np.array([1.0, 1.2]), 0.7),
    of("tanhsinh", lambda a, c: integrate.tanhsinh(lambda x, c: np.exp(-c * x) / np.sqrt(x + 0.1), a, 2.0, args=(c,)).integral, 0.2, K),
    of("nsum", lambda c: integrate.nsum(lambda k, c: np.exp(-c * k), 1, 12, args=(c,)).sum, 0.7),
    of("nsum to infinity", lambda c: integrate.nsum(lambda k: 1 / (k + c) ** 2, 1, np.inf).sum, 0.7, order=1),
    of("odeint", lambda y, a: integrate.odeint(lambda y, t, a: [y[1], -a * y[0]], y, T, args=(a,), **TIGHT), Y0, 0.7),
    of("odeint in the times", lambda y, t: integrate.odeint(lambda t, y: -y * t, y, t, tfirst=True, **TIGHT), Y0, T, tol=1e-5),
    *[ivp(method) for method in ("RK45", "BDF", "LSODA")], ivp("Radau", stiff, tol=3e-5), ivp("DOP853", order=2),
    of("all steps", lambda y, a: integrate.solve_ivp(lambda t, y: -a * y, (0, a), y, "DOP853", max_step=0.3, rtol=1e-12).y[:, -1], Y0, 0.7),
    of("dense output", lambda y, t: integrate.solve_ivp(wave, (0.0, 2.0), y, "DOP853", args=(0.7, 0.2), dense_output=True, **TIGHT).sol(t), Y0, T, order=1, tol=1e-5),
    of("events", lambda y, a: (lambda s: (s.t_events[0], s.y_events[0], s.y[:, -1], s.t[-1], s.t_events[1]))(
        integrate.solve_ivp(wave, (0.0, 9.0), y, "DOP853", args=(a, 0.1), events=[crossing, watched], **TIGHT)), Y0, 0.9, order=1, tol=1e-5),
    of("complex", lambda a, b: integrate.solve_ivp(lambda t, y: (a + 1j * b) * y, (0.0, 1.0), np.array([1.0 + 0.5j]), "DOP853", t_eval=[0.5, 1.0], **TIGHT).y, 0.3, 1.2),
    of("solve_bvp", lambda a, b: (lambda s: (s.y, s.sol(np.array([0.31]))))(integrate.solve_bvp(
        lambda x, y: fnp.stack([y[1], -a * y[0]]), lambda u, v: fnp.stack([u[0], v[0] - b]), np.linspace(0, 1, 12), np.zeros((2, 12)), tol=1.0)), 0.7, 1.2, order=1),
]  # fmt: skip
