"""Products of matrices and linear algebra."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.reduce import named_result
from funcgrad.torch.functions.registry import declare, enter, function
from funcgrad.torch.graph.lanes import binary_lane
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor


def _same_dtype(*operands: Any) -> None:
    if len({x.dtype for x in operands}) > 1:
        names = [str(dtypes.of(x.dtype)) for x in operands[:2]]
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}")


def _matmul(input: Any, other: Any) -> Any:
    """The matrix product, over leading dims."""
    _same_dtype(input, other)
    if not input.ndim or not other.ndim:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {input.ndim}D and {other.ndim}D"
        )
    rows = other.shape[-2] if other.ndim > 1 else other.shape[0]
    if input.shape[-1] != rows:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_sides(input)} and {_sides(other)})")
    return input @ other


def _sides(x: Any) -> str:
    return "x".join(map(str, x.shape)) if x.ndim > 1 else str(x.shape[0])


def _node(input: Any = None, other: Any = None, **_: Any) -> str:
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        return "MmBackward0"
    kinds = {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (2, 2): "MmBackward0", (1, 2): "SqueezeBackward4"}
    return kinds.get(
        (input.ndim, other.ndim), "UnsafeViewBackward0" if input.ndim != other.ndim else "BmmBackward0"
    )


MATMUL = Op("matmul", _matmul, _node)
_lane = binary_lane(np.matmul, MATMUL)


@function("fm")
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product, over leading dims."""
    if out is not None:
        return MATMUL(input, other, out=out)
    if len(input.value.shape) == 2 and isinstance(other, Tensor) and len(other.value.shape) == 2:
        return _lane(input, other)
    return MATMUL(input, other)


Tensor.__matmul__ = matmul
Tensor.__rmatmul__ = lambda self, other: MATMUL(other, self)
mm = declare("mm", _matmul, "MmBackward0")
declare("bmm", _matmul, "BmmBackward0")
declare("mv", _matmul, "MvBackward0", aliases="")


def _dot(input: Any, tensor: Any) -> Any:
    """The sum of the products of two vectors."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{input.shape[0]}] and src [{tensor.shape[0]}] to have the same "
            "number of elements"
        )
    _same_dtype(input, tensor)
    return input @ tensor


declare("dot", _dot)
declare("vdot", lambda input, other: np.vdot(input, other))
declare("inner", lambda input, other: np.inner(input, other), "ViewBackward0")


def _outer(input: Any, vec2: Any) -> Any:
    """The products of all pairs of elements of two vectors."""
    for name, x in (("self", input), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return np.outer(*dtypes.aligned((input, vec2)))


declare("outer", _outer, "MulBackward0", aliases="ger")
declare(
    "addmm",
    lambda input, mat1, mat2, *, beta=1, alpha=1: _scaled(beta, input) + _scaled(alpha, mat1 @ mat2),
    where="fmi",
)
declare(
    "addmv",
    lambda input, mat, vec, *, beta=1, alpha=1: _scaled(beta, input) + _scaled(alpha, mat @ vec),
    where="fmi",
)
declare(
    "baddbmm",
    lambda input, batch1, batch2, *, beta=1, alpha=1: _scaled(beta, input) + _scaled(alpha, batch1 @ batch2),
    where="fmi",
)
declare("tensordot", lambda a, b, dims=2: np.tensordot(a, b, dims), "ViewBackward0", where="f")
declare("kron", lambda input, other: np.kron(input, other), "UnsafeViewBackward0")


def _cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product of the vectors of three elements along `dim`."""
    sizes = input.shape[dim], other.shape[dim]
    if sizes != (3, 3):
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}"
        )
    return np.cross(input, other, axis=dim)


def _cross_along(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product along `dim`; without one, along the first dim of three elements."""
    if dim is None:
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
        warnings.warn(
            "Using torch.cross without specifying the dim arg is deprecated. Please either pass the dim explicitly or simply "
            "use torch.linalg.cross.",
            UserWarning,
            stacklevel=2,
        )
    return _cross(input, other, dim=dim)


declare("cross", _cross_along, "LinalgCrossBackward0")
declare(
    "chain_matmul",
    lambda *matrices: np.linalg.multi_dot(list(matrices)) if matrices[1:] else np.copy(*matrices),
    where="f",
)


def _scaled(factor: Any, x: Any) -> Any:
    return x if factor == 1 else factor * x


def _einsum_node(equation: Any = "", operands: Any = ()) -> str:
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    return (
        "PermuteBackward0"
        if arrow and inputs != output and sorted(inputs) == sorted(output)
        else "ViewBackward0"
    )


def _einsum(equation: str, operands: Any) -> Any:
    equation, operands = equation.replace(" ", ""), list(dtypes.aligned(operands))
    if len(operands) == 2 and all(
        type(x) is np.ndarray and x.dtype.kind == "f" and x.ndim > 2 for x in operands
    ):
        found = _batched_product(equation, *operands)
        if found is not None:
            return found
    return np.einsum(equation, *operands)


def _batched_product(equation: str, x: np.ndarray, y: np.ndarray) -> Any:
    """A sum of products that is a product of matrices for each of a batch, by matmul; None for any other."""
    inputs, arrow, wanted = equation.partition("->")
    a, b = inputs.split(",")
    if (
        not arrow
        or "." in equation
        or len({*a}) < len(a)
        or len({*b}) < len(b)
        or x.ndim != len(a)
        or y.ndim != len(b)
    ):
        return None
    batch = [c for c in wanted if c in a and c in b]
    rows, columns = ([c for c in wanted if c in s and c not in other] for s, other in ((a, b), (b, a)))
    summed = [c for c in a if c in b and c not in wanted]
    if not batch or not summed or {*a} != {*batch, *rows, *summed} or {*b} != {*batch, *columns, *summed}:
        return None
    size = dict(zip(a + b, x.shape + y.shape, strict=True))
    if any(size[c] != n for c, n in zip(a, x.shape, strict=True)):
        return None

    def ordered(v: np.ndarray, letters: str, *groups: list[str]) -> np.ndarray:
        moved = v.transpose([letters.index(c) for group in groups for c in group])
        return moved.reshape(
            *[size[c] for c in batch], *(math.prod(size[c] for c in group) for group in groups[1:])
        )

    out = ordered(x, a, batch, rows, summed) @ ordered(y, b, batch, summed, columns)
    made = [*batch, *rows, *columns]
    return out.reshape([size[c] for c in made]).transpose([made.index(c) for c in wanted])


EINSUM = Op("einsum", _einsum, _einsum_node)


@function()
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products by Einstein's notation."""
    return EINSUM(
        equation,
        list(operands[0])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple))
        else list(operands),
    )


# ---- torch.linalg ------------------------------------------------------------------------------------------------------
LINALG: dict[str, Any] = {}
_la: Any = np.linalg


def _linalg(name: str, body: Any, node: str | None = None, also: str = "") -> None:
    made = LINALG[name] = Op(
        f"linalg_{name}", body, node or f"Linalg{name.title().replace('_', '')}Backward0"
    )
    for each in also.split():
        enter(each, made, "fm")


_linalg("inv", _la.inv, "LinalgInvExBackward0", "inverse")
_linalg("det", _la.det, None, "det")


def _as_complex(x: Any) -> Any:
    """Complex numbers, also where all are real: NumPy gives these as real ones."""
    return x if x.dtype.kind == "c" else x.astype(np.result_type(x.dtype, np.complex64))


EigResult = named_result("linalg_eig", "eigenvalues eigenvectors")
SlogdetResult = named_result("slogdet", "sign logabsdet")
_linalg("slogdet", lambda A: SlogdetResult(*_la.slogdet(A)), None, "slogdet")
_linalg("solve", lambda A, B: _la.solve(A, B), "LinalgSolveExBackward0")
_linalg("cholesky", _la.cholesky, "LinalgCholeskyExBackward0")
_linalg("eigh", lambda A, UPLO="L": _la.eigh(A, UPLO))
_linalg("eigvalsh", lambda A, UPLO="L": _la.eigvalsh(A, UPLO), "LinalgEighBackward0")
_linalg("eig", lambda A: EigResult(*map(_as_complex, _la.eig(A))))
_linalg("eigvals", lambda A: _as_complex(_la.eigvals(A)))
_linalg("svd", lambda A, full_matrices=True: _la.svd(A, full_matrices))
_linalg("svdvals", lambda A: _la.svdvals(A), "LinalgSvdBackward0")
_linalg("qr", lambda A, mode="reduced": _la.qr(A, mode), None, "qr")
_linalg("pinv", lambda A: _la.pinv(A), None, "pinverse")
_linalg("matrix_power", lambda A, n: _la.matrix_power(A, n), None, "matrix_power")
_linalg(
    "matrix_norm",
    lambda A, ord="fro", dim=(-2, -1), keepdim=False: _la.norm(A, ord, axis=dim, keepdims=keepdim),
)
_linalg(
    "vector_norm",
    lambda x, ord=2, dim=None, keepdim=False: _la.vector_norm(
        x, ord=ord, axis=tuple(dim) if isinstance(dim, list) else dim, keepdims=keepdim
    ),
)
_linalg(
    "norm",
    lambda A, ord=None, dim=None, keepdim=False: _la.norm(
        A if ord is not None or dim is not None else np.reshape(A, -1), ord, axis=dim, keepdims=keepdim
    ),
    "LinalgVectorNormBackward0",
)
_linalg("cross", _cross)
_linalg("multi_dot", lambda tensors: _la.multi_dot(tensors))
_linalg("matmul", _matmul, "MmBackward0")
_linalg(
    "diagonal",
    lambda A, *, offset=0, dim1=-2, dim2=-1: np.diagonal(A, offset, dim1, dim2),
    "DiagonalBackward0",
)
_linalg("matrix_rank", lambda A, tol=None: np.asarray(_la.matrix_rank(A, tol)))
_linalg("cond", lambda A, p=None: _la.cond(A, p))
LSTSQ = named_result("linalg_lstsq", "solution residuals rank singular_values")


def _lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X with the smallest norm of AX - B; residuals and singular values for the drivers that give them."""
    X, residuals, rank, singular = _la.lstsq(A, B, rcond)
    none = np.zeros(0, A.dtype)
    return LSTSQ(
        X,
        none if driver in (None, "gelsy") else residuals,
        np.asarray(rank, np.int64) if driver != "gels" else np.zeros(0, np.int64),
        singular if driver in ("gelsd", "gelss") else none,
    )


_linalg("lstsq", _lstsq)
enter("logdet", Op("logdet", lambda input: _la.slogdet(input)[1], "LogdetBackward0"), "fm")
enter("cholesky", LINALG["cholesky"], "fm")
