"""Samples of scipy.optimize; second order where SciPy's solution is accurate enough for differences."""

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.scipy import optimize
from tests.rules.samples import A, S

P = np.array([0.8, 1.3])
cubic = lambda x, a: x**3 + a * x - 2.0
bowl = lambda x, a: np.sum((x - a) ** 2) + 0.3 * np.sum(x**4) + 0.2 * x[0] * x[1]
system = lambda x, a: fnp.stack([x[0] ** 3 + x[1] - a[0], x[1] - 0.3 * x[0] * x[1] - a[1]])
T = np.linspace(0, 1, 7)
Y = 1.3 * np.exp(-0.8 * T) + 0.05 * A(7)
ONES, ZEROS = np.ones(2), np.zeros(2)
TIGHT = {"gtol": 1e-11}


def of(label, function, *args, order=1, tol=1e-6):
    return S(function, *args).but(label=label, order=order, tol=tol, vmap=False, float32=False)


def minimum(label, method, a=P, order=1, tol=3e-6, **options):
    run = lambda a: (lambda r: (r.x, r.fun))(
        optimize.minimize(bowl, ONES, args=(a,), method=method, **options)
    )
    return of(label, run, a, order=order, tol=tol)


bent = lambda x, a: np.diag(2 + 3.6 * x**2) + 0.2 * np.eye(2)[::-1]
exact = lambda x, a: 2 * (x - a) + 1.2 * x**3 + 0.2 * x[::-1]
SAMPLES = [
    *[of(name, lambda a, name=name: getattr(optimize, name)(cubic, 0.0, 2.0, args=(a,), xtol=1e-14), 0.7, order=2)
      for name in ("brentq", "brenth", "bisect", "ridder", "toms748")],
    of("newton", lambda a: optimize.newton(cubic, 1.0, args=(a,), tol=1e-13), 0.7, order=2),
    of("newton of arrays", lambda a: optimize.newton(lambda x: cubic(x, a), np.array([1.0, 0.8]), lambda x: 3 * x**2 + a, tol=1e-14), P, order=2),
    of("root_scalar", lambda a: optimize.root_scalar(cubic, args=(a,), x0=1.0, fprime=lambda x, a: 3 * x**2 + a, xtol=1e-14).root, 0.7, order=2),
    of("root", lambda a: optimize.root(system, ONES, args=(a,), tol=1e-13).x, P, order=2),
    of("root by lm", lambda a: optimize.root(system, ONES, args=(a,), method="lm", tol=1e-13).x, P),
    of("fsolve", lambda a: optimize.fsolve(system, ONES, args=(a,), xtol=1e-13), P, order=2),
    of("fixed_point", lambda a: optimize.fixed_point(lambda x, a: np.cos(a * x), 0.5, args=(a,), xtol=1e-13), 0.7, order=2),
    of("broyden2", lambda a: optimize.broyden2(lambda x: x + 0.1 * np.sin(x) - a, ONES, f_tol=1e-12), P, order=2),
    of("newton_krylov", lambda a: optimize.newton_krylov(lambda x: x + 0.1 * np.sin(x) - a, ONES, f_tol=1e-11), P),
    of("find_root", lambda a: optimize.elementwise.find_root(cubic, (0.0, 2.0), args=(a,)).x, P, order=2),
    of("find_minimum", lambda a: optimize.elementwise.find_minimum(lambda x, a: (x - a) ** 2 + 0.1 * x**4, (-2.0, 0.1, 2.0), args=(a,)).f_x, P),
    minimum("BFGS", "BFGS", jac=exact, options=TIGHT), minimum("CG", "CG", jac=exact, options=TIGHT),
    minimum("Newton-CG", "Newton-CG", jac=exact, hess=bent, options={"xtol": 1e-12}), minimum("trust-exact", "trust-exact", options=TIGHT),
    minimum("dogleg", "dogleg", options=TIGHT), minimum("trust-ncg", "trust-ncg", options=TIGHT),
    minimum("bounds", "L-BFGS-B", np.array([0.8, 1.9]), jac=exact, bounds=[(None, None), (None, 0.9)], options={"ftol": 1e-15, "gtol": 1e-10}),
    of("a bound that moves", lambda a, b: optimize.minimize(bowl, ZEROS, args=(a,), jac=exact, method="L-BFGS-B", bounds=[(None, 9), (None, b)],
                                                            options={"ftol": 1e-15, "gtol": 1e-10}).x, np.array([0.8, 1.9]), 0.9, tol=3e-6),
    of("an equation", lambda a, b: optimize.minimize(bowl, ONES, args=(a,), jac=exact, method="SLSQP", tol=1e-13,
                                                     constraints={"type": "eq", "fun": lambda x: x[0] + x[1] ** 2 - b}).x, P, 1.2, tol=3e-6),
    of("an inequality", lambda a, b: optimize.minimize(bowl, ONES, args=(a,), jac=exact, method="SLSQP", tol=1e-13,
                                                       constraints=[optimize.LinearConstraint(np.ones((1, 2)), -np.inf, 0.9)]).x * b, P, 1.2, tol=3e-6),
    of("minimize_scalar", lambda a: optimize.minimize_scalar(lambda x, a: np.cosh(x - a) + 0.1 * x**2, args=(a,)).fun, 0.7),
    of("minimize_scalar.x", lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2 + 0.1 * x**2, bounds=(0, 2), method="bounded", options={"xatol": 1e-12}).x, 0.7, tol=1e-5),
    of("brent", lambda a: optimize.brent(lambda x: (x - a) ** 2 + 0.1 * x**2, tol=1e-12), 0.7, tol=1e-5),
    of("fminbound", lambda a: optimize.fminbound(lambda x: (x - a) ** 2 + 0.1 * x**2, 0, 2, xtol=1e-12), 0.7, tol=1e-5),
    of("fmin_bfgs", lambda a: optimize.fmin_bfgs(bowl, ONES, exact, args=(a,), gtol=1e-11, disp=0), P, tol=3e-6),
    of("fmin_l_bfgs_b", lambda a: optimize.fmin_l_bfgs_b(bowl, ONES, exact, args=(a,), factr=0.1, pgtol=1e-11)[0], P, tol=3e-6),
    of("differential_evolution", lambda a: optimize.differential_evolution(bowl, [(-2, 2), (-2, 2)], args=(a,), rng=3, tol=1e-12, polish=False, maxiter=300).fun, P, tol=1e-4),
    of("basinhopping", lambda a: optimize.basinhopping(lambda x: bowl(x, a), ONES, niter=2, rng=1, minimizer_kwargs={"jac": lambda x: exact(x, a), "options": TIGHT, "method": "BFGS"}).fun, P, tol=3e-6),
    *[of(f"least_squares with {loss}", lambda a, loss=loss: (lambda r: (r.x, r.cost))(optimize.least_squares(
        lambda p: p[0] * np.exp(-p[1] * T) - Y - a * T**2, ONES, loss=loss, f_scale=0.3, jac=lambda p: fnp.stack([np.exp(-p[1] * T), -T * p[0] * np.exp(-p[1] * T)], axis=1),
        xtol=1e-15, ftol=1e-15, gtol=1e-13)), 0.2, tol=1e-5) for loss in ("linear", "soft_l1", "huber", "cauchy", "arctan")],
    of("leastsq", lambda y: optimize.leastsq(lambda p: p[0] * np.exp(-p[1] * T) - y, ONES, xtol=1e-14, ftol=1e-14, gtol=1e-14)[0], Y, tol=1e-5),
    of("curve_fit", lambda y, s: optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), T, y, [1.0, 1.0], sigma=s, xtol=1e-14, ftol=1e-14, gtol=1e-14)[0], Y, 1 + 0.1 * T, tol=1e-5),
    of("curve_fit's covariance", lambda y: optimize.curve_fit(lambda t, a, b: a + b * t, T, y, [1.0, 1.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)[1], Y, tol=1e-5),
    of("nnls", lambda a, b: optimize.nnls(a, b), abs(A(5, 3)) + np.eye(5, 3), A(5) + 1, order=2),
    of("lsq_linear", lambda a, b: (lambda r: (r.x, r.cost))(optimize.lsq_linear(a, b)), A(5, 2), A(5), order=2),
    of("linprog", lambda c, b: (lambda r: (r.x, r.fun, r.slack))(optimize.linprog(-c, A_ub=np.array([[1.0, 2.0], [3.0, 1.0]]), b_ub=b)), P, np.array([2.1, 2.7]), order=2),
    of("isotonic_regression", lambda y: optimize.isotonic_regression(y).x, np.array([1.0, 0.5, 0.9, 2.0, 1.7]), order=2),
    of("assignment", lambda c: np.sum(c[optimize.linear_sum_assignment(c)]), A(3, 3), order=2),
    S(optimize.rosen, A(4)), S(optimize.rosen_der, A(4)), S(optimize.rosen_hess, A(4)), S(optimize.rosen_hess_prod, A(4), A(4)),
]  # fmt: skip
