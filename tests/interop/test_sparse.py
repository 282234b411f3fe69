"""Functions on sparse arrays (of the library sparse), as constants and as what is differentiated."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from funcgrad import grad, hessian, jvp, value_and_grad
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.errors import UnsupportedFunctionError
from tests.grouping import in_groups
from tests.interop.lazily import chosen
from tests.interop.sparsely import RECORD, outcome, sparse
from tests.rules.samples import Sample

RECORDED = dict(line.split() for line in RECORD.read_text(encoding="utf-8").splitlines())
# sparse compiles kernels of its own for each of these, for seconds; making the record checks them
COMPILED_LONG = {"at", "np.copyto", "np.cov", "np.fill_diagonal", "np.place", "np.putmask"}
COMPILED_LONG |= {"np.kron", "np.linalg.matmul", "np.linalg.multi_dot", "np.linalg.tensordot", "np.tensordot"}
SAMPLES = {
    text: sample
    for text, sample in chosen().items()
    if (title := CATALOGUE[sample.subject].title) in RECORDED and title not in COMPILED_LONG
}

a = np.array([[1.0, 0, 2, 0], [0, 0, 3, 0], [0, 4, 0, 0]])
w = np.array([0.5, -1.0, 2.0, 1.5])


@in_groups(SAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_derivatives_on_sparse_arrays_are_right_or_refused(sample: Sample) -> None:
    assert outcome(sample) == RECORDED[CATALOGUE[sample.subject].title], (
        "run `python -m tests.interop.sparsely` and `python docs/support.py`"
    )


def test_a_loss_with_sparse_data() -> None:
    def loss(w, X):
        z = w @ X.T
        return np.mean(np.logaddexp(0, z) - 0.5 * z) + 0.1 * np.sum(w * w)

    value, gradient = value_and_grad(loss)(w, sparse.COO(a))
    expected = value_and_grad(loss)(w, a)
    np.testing.assert_allclose(value, expected[0])
    np.testing.assert_allclose(gradient, expected[1])
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(
        jvp(lambda w: loss(w, sparse.COO(a)), (w,), (w,))[1], jvp(lambda w: loss(w, a), (w,), (w,))[1]
    )


def test_what_is_sparse_stays_sparse() -> None:
    gradient = grad(lambda s: np.sum(np.sin(s) ** 2 * np.arange(4.0)))(sparse.COO(a))
    assert isinstance(gradient, sparse.SparseArray)
    np.testing.assert_allclose(gradient.todense(), np.sin(2 * a) * np.arange(4.0))
    untouched = grad(lambda s, w: np.sum(w))(sparse.COO(a), w)
    assert isinstance(untouched, sparse.SparseArray)
    assert untouched.nnz == 0


def test_a_product_with_the_sparse_array_on_the_left(monkeypatch: pytest.MonkeyPatch) -> None:
    numba, common = import_module("numba"), import_module("sparse.numba_backend._common")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)  # conftest.py has disabled it; here users meet Numba
    monkeypatch.setattr(common, "nan_check", numba.njit(common.nan_check))
    ours, plain = (lambda w, x=x: np.sum(np.tanh(x @ w) ** 2) for x in (sparse.COO(a), a))
    np.testing.assert_allclose(grad(ours)(w), grad(plain)(w))
    np.testing.assert_allclose(hessian(ours)(w), hessian(plain)(w), atol=1e-12)
    with pytest.raises(UnsupportedFunctionError, match=r"at test_sparse\.py.*a @ w for np\.dot\(a, w\)"):
        grad(lambda w: np.sum(np.dot(sparse.COO(a), w)))(w)


def test_functions_that_numba_compiled_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = import_module("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    f = numba.njit(lambda x: x * x)
    with pytest.raises(UnsupportedFunctionError, match=r"compiled by Numba .*at test_sparse\.py.*f\.py_func"):
        grad(lambda x: f(x))(2.0)
    assert grad(lambda x: f.py_func(x))(2.0) == 4.0


def test_what_would_become_dense_is_refused() -> None:
    s = sparse.COO(a)
    for f in (
        lambda s: np.sum(s + w),
        lambda s: np.sum(np.linalg.inv(s[:3, :3])),
        lambda s: np.sum(np.sort(s)),
    ):
        with pytest.raises(
            UnsupportedFunctionError, match=r"an array of sparse, at test_sparse\.py.*a\.todense\(\)"
        ):
            grad(f)(s)
