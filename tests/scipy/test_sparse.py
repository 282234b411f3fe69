"""Sparse matrices that nobody could make dense, containers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

import scipy.sparse as ss

from funcgrad import grad, jvp, value_and_grad, vjp
from funcgrad.scipy import sparse
from funcgrad.scipy.sparse import linalg

N = 100_000


def chain(d: object) -> object:
    """A tridiagonal matrix of size N with the diagonal 3 + d."""
    return sparse.diags_array([-np.ones(N - 1), 3.0 + d, -np.ones(N - 1)], offsets=[-1, 0, 1])  # type: ignore[operator]


def test_a_matrix_of_1e5_rows_is_never_made_dense() -> None:
    d, x = np.linspace(0, 1, N), np.linspace(-1, 1, N)
    product = grad(lambda d: np.sum((chain(d) @ x) ** 2))(d)
    np.testing.assert_allclose(product, 2 * (chain(d) @ x) * x)
    inverse, pull = vjp(lambda d, b: linalg.spsolve(chain(d).tocsc(), b), d, x)
    ct_d, ct_b = pull(np.ones(N))
    np.testing.assert_allclose(chain(d) @ inverse, x, atol=1e-12)
    np.testing.assert_allclose(chain(d) @ ct_b, np.ones(N), atol=1e-12)
    np.testing.assert_allclose(ct_d, -ct_b * inverse)


def test_products_of_sparse_matrices_of_that_size_stay_sparse() -> None:
    d = np.linspace(0, 1, N)
    slope = grad(lambda d: (chain(d) @ chain(d)).sum())(d)
    np.testing.assert_allclose(slope, 2 * (chain(d) @ np.ones(N)))


def test_conjugate_gradients_at_that_size() -> None:
    d, b = np.linspace(0, 1, N), np.ones(N)
    solve = lambda d: linalg.cg(chain(d).tocsr(), b, rtol=1e-10)[0]
    x, t = jvp(solve, (d,), (np.ones(N),))
    np.testing.assert_allclose(chain(d) @ t, -x, atol=1e-7)


def test_containers_of_plain_entries_are_scipys() -> None:
    ours, theirs = sparse.csr_array(np.eye(3)), ss.csr_array(np.eye(3))
    assert isinstance(ours, ss.csr_array)
    assert isinstance(ours.T, sparse.csc_array)
    assert isinstance(ours @ ours, sparse.csr_array)
    np.testing.assert_array_equal((ours @ ours + ours).toarray(), (theirs @ theirs + theirs).toarray())
    assert sparse.issparse(theirs)
    assert not isinstance(theirs, sparse.csr_array)


def test_one_factorisation_serves_both_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    splu = ss.linalg.splu
    monkeypatch.setattr(
        "scipy.sparse.linalg.splu", lambda *args, **named: calls.append(1) or splu(*args, **named)
    )
    matrix = sparse.csc_array(np.diag([2.0, 3.0]) + 1)
    value_and_grad(
        lambda d: np.sum(linalg.spsolve(sparse.csc_array((d, matrix.indices, matrix.indptr)), np.ones(2)))
    )(matrix.data)
    assert len(calls) == 1


def test_what_has_no_rule_says_what_to_write() -> None:
    with pytest.raises(NotImplementedError, match="stop_gradient"):
        grad(lambda d: linalg.spilu(sparse.csc_array((d, [0, 1], [0, 1, 2]))).solve(np.ones(2)).sum())(
            np.ones(2)
        )
    with pytest.raises(AttributeError, match="in terms of products"):
        grad(lambda d: sparse.csr_array((d, [0, 1], [0, 1, 2])).reshape((1, 4)).sum())(np.ones(2))
