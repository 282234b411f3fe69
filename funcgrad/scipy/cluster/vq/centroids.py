"""Vector quantisation: which centroid is nearest is constant, distances and means are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.cluster.vq as sv

from funcgrad.core.engine.primitive import as_operand
from funcgrad.errors import NonDifferentiableError
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.linalg.stacks import plain

vq_chapter = Chapter("cluster.vq")


def _values(x: Any) -> Any:
    return np.asarray(plain(as_operand(x)))


@vq_chapter.composite("vq py_vq")
def vq(obs, code_book):
    code, _ = sv.vq(_values(obs), _values(code_book))
    obs, book = as_operand(obs), as_operand(code_book)
    gap = obs - book[code]
    return code, np.linalg.norm(gap, axis=-1) if gap.ndim > 1 else abs(gap)


@vq_chapter.composite("whiten")
def whiten(obs):
    obs = as_operand(obs)
    spread = np.std(obs, axis=0)
    return obs / np.where(spread == 0, 1, spread)


def _means(data: Any, label: Any, book: Any) -> Any:
    """The mean of the members of each cluster; a cluster without any keeps what SciPy has for it."""
    counts = np.bincount(label, minlength=len(book))
    member = (label == np.arange(len(book))[:, None]).astype(book.dtype)
    means = (member @ data) / np.maximum(counts, 1).astype(book.dtype).reshape(-1, *[1] * (data.ndim - 1))
    kept = (counts > 0).reshape(-1, *[1] * (data.ndim - 1))
    return np.where(kept, means, book)


@vq_chapter.composite("kmeans2")
def kmeans2(data, k, minit="random", **options):
    given = _values(k) if not np.isscalar(k) else k
    book, label = sv.kmeans2(_values(data), given, minit=minit, **options)
    return _means(as_operand(data), label, book), label


@vq_chapter.composite("kmeans")
def kmeans(obs, k_or_guess, **options):
    plain_obs = _values(obs)
    book, _ = sv.kmeans(
        plain_obs, _values(k_or_guess) if not np.isscalar(k_or_guess) else k_or_guess, **options
    )
    label, _ = sv.vq(plain_obs, book)
    obs = as_operand(obs)
    centroids = _means(obs, label, book)
    if not np.allclose(_values(centroids), book, rtol=1e-9, atol=1e-12):
        raise NonDifferentiableError(
            "scipy.cluster.vq.kmeans stopped before its centroids were the means of their clusters, so they have no derivative. "
            "Give a smaller thresh."
        )
    return centroids, np.mean(vq(obs, centroids)[1])
