"""Objects of other libraries that hold the same numbers, and the places where a program may use them."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

F = np.array([1.5, 0.5, 2.0])


def made(library: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """What makes an object, if the library is there."""
    return functools.cache(lambda: make(pytest.importorskip(library)))


def dataset(x: np.ndarray) -> Callable[[Any], Any]:
    """What makes a dataset of h5py, in memory."""
    return lambda h5py: h5py.File(str(x), "w", driver="core", backing_store=False).create_dataset("x", data=x)


def memmap(_: Any) -> Any:
    with tempfile.TemporaryFile() as file:
        stored = np.memmap(file, dtype=float, mode="w+", shape=(3,))
    stored[:] = F
    return stored


class Unknown:
    """An object that only says how it becomes an array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return F.copy()


class Logged(np.lib.mixins.NDArrayOperatorsMixin):
    """A wrapper of one's own, that computes by itself."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return Logged(getattr(ufunc, method)(*(a.x if isinstance(a, Logged) else a for a in args), **kwargs))


class Doubling(np.ndarray):
    """A subclass with a multiplication of its own."""

    def __mul__(self, y: Any) -> Any:
        return 2 * np.asarray(self) * y


OBJECTS: dict[str, Callable[[], Any]] = {
    "list": lambda: F.tolist(),
    "tuple": lambda: tuple(F.tolist()),
    "float32": lambda: F.astype(np.float32),
    "memmap": made("numpy", memmap),
    "recarray": lambda: F.view(np.recarray),
    "matrix": lambda: np.asmatrix(F),
    "masked array": lambda: np.ma.array(F),
    "masked element": lambda: np.ma.array(F, mask=[1, 0, 0]),
    "chararray": lambda: np.char.array(["a", "b", "c"]),
    "objects": lambda: F.astype(object),
    "Fractions": lambda: [Fraction(v) for v in F.tolist()],
    "Fraction": lambda: Fraction(3, 2),
    "Decimal": lambda: Decimal("1.5"),
    "poly1d": lambda: np.poly1d(F),
    "Polynomial": lambda: np.polynomial.Polynomial(F),
    "Unknown": Unknown,
    "Logged": lambda: Logged(F),
    "Doubling": lambda: F.view(Doubling),
    "Series": made("pandas", lambda pd: pd.Series(F)),
    "Series of labels": made("pandas", lambda pd: pd.Series(F, index=[2, 0, 1])),
    "Series of names": made("pandas", lambda pd: pd.Series(F, index=list("abc"))),
    "Float64 Series": made("pandas", lambda pd: pd.Series(F, dtype="Float64")),
    "Index": made("pandas", lambda pd: pd.Index(F)),
    "extension array": made("pandas", lambda pd: pd.array(F)),
    "DataFrame": made("pandas", lambda pd: pd.DataFrame({"a": F, "b": F + 1})),
    "DataFrame of numbers": made("pandas", lambda pd: pd.DataFrame([F, F + 1])),
    "column": made("pandas", lambda pd: pd.DataFrame({"a": F, "b": F + 1})["a"]),
    "DataArray": made("xarray", lambda xr: xr.DataArray(F, dims="k")),
    "Variable": made("xarray", lambda xr: xr.Variable("k", F)),
    "Dataset": made("xarray", lambda xr: xr.Dataset({"a": ("k", F)})),
    "pint": made("pint", lambda pint: F * pint.UnitRegistry().dimensionless),
    "pint metres": made("pint", lambda pint: F * pint.UnitRegistry().m),
    "pint percent": made("pint", lambda pint: 100 * F * pint.UnitRegistry().percent),
    "pint number": made("pint", lambda pint: 1.5 * pint.UnitRegistry().m),
    "astropy": made("astropy.units", lambda u: F * u.one),
    "astropy metres": made("astropy.units", lambda u: F * u.m),
    "astropy percent": made("astropy.units", lambda u: 100 * F * u.percent),
    "astropy number": made("astropy.units", lambda u: 1.5 * u.one),
    "astropy unit": made("astropy.units", lambda u: u.m),
    "unyt": made("unyt", lambda unyt: unyt.unyt_array(F, "dimensionless")),
    "unyt metres": made("unyt", lambda unyt: unyt.unyt_array(F, "m")),
    "unyt number": made("unyt", lambda unyt: unyt.unyt_quantity(1.5, "dimensionless")),
    "SciPy sparse": made("scipy.sparse", lambda sparse: sparse.csr_array(F[None])),
    "SciPy sparse matrix": made("scipy.sparse", lambda sparse: sparse.csr_matrix(F[None])),
    "sparse": made("sparse", lambda sparse: sparse.COO(F)),
    "Dask": made("dask.array", lambda da: da.from_array(F, chunks=2)),
    "h5py": made("h5py", dataset(F)),
    "zarr": made("zarr", lambda zarr: zarr.array(F)),
    "polars": made("polars", lambda pl: pl.Series(F)),
    "polars frame": made("polars", lambda pl: pl.DataFrame({"a": F})),
    "pyarrow": made("pyarrow", lambda pa: pa.array(F)),
    "pyarrow chunks": made("pyarrow", lambda pa: pa.chunked_array([F])),
    "awkward": made("awkward", lambda ak: ak.Array(F)),
    "ragged": made("awkward", lambda ak: ak.Array([[1.0], [], [2.0]])),
    "torch": made("torch", lambda torch: torch.tensor(F)),
    "jax": made("jax.numpy", lambda jnp: jnp.asarray(F)),
}

# Of three traced numbers w and an object.
PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "w * F": lambda w, f: np.sum(w * f),
    "F * w": lambda w, f: np.sum(f * w),
    "w - F": lambda w, f: np.sum((w - f) ** 2),
    "F - w": lambda w, f: np.sum((f - w) ** 2),
    "w / F": lambda w, f: np.sum(w / f),
    "F / w": lambda w, f: np.sum(f / w),
    "w ** F": lambda w, f: np.sum(w**f),
    "F ** w": lambda w, f: np.sum(f**w),
    "w @ F": lambda w, f: w @ f,
    "F @ w": lambda w, f: f @ w,
    "w[0] * F": lambda w, f: np.sum(w[0] * f),
    "F * w[0]": lambda w, f: np.sum(f * w[0]),
    "w += F": lambda w, f: _added(w, f),
    "method": lambda w, f: (w * f).sum(),
    "method on the left": lambda w, f: (f * w).sum(),
    "an element": lambda w, f: (w * f)[0] + (f * w)[-1],
    "multiply": lambda w, f: np.sum(np.multiply(f, w)),
    "arctan2": lambda w, f: np.sum(np.arctan2(w, f)),
    "maximum": lambda w, f: np.sum(np.maximum(f, w)),
    "multiply.outer": lambda w, f: np.sum(np.multiply.outer(f, w)[0]),
    "where": lambda w, f: np.sum(np.where(w > 1, w * w, f)),
    "where in F": lambda w, f: np.sum(np.where(f > 1, w * w, w)),
    "dot": lambda w, f: np.dot(f, w),
    "w.dot": lambda w, f: w.dot(f),
    "F.dot": lambda w, f: f.dot(w),
    "outer": lambda w, f: np.sum(np.outer(f, w)[0]),
    "einsum": lambda w, f: np.einsum("i,i->", w, f),
    "tensordot": lambda w, f: np.tensordot(f, w, 1),
    "concatenate": lambda w, f: np.sum(np.concatenate([f, w]) ** 2),
    "stack": lambda w, f: np.sum(np.stack([w, f]) ** 2),
    "array": lambda w, f: np.sum(np.array([f, w], like=w) ** 2),
    "interp": lambda w, f: np.sum(np.interp(w, [0, 1, 2], f)),
    "trapezoid": lambda w, f: np.trapezoid(f * w),
    "trapezoid over F": lambda w, f: np.trapezoid(w, f),
    "diff": lambda w, f: np.sum(np.diff(f * w) ** 2),
    "clip": lambda w, f: np.sum(np.clip(w * w, 0, f)),
    "average": lambda w, f: np.average(w, weights=f),
    "polyval": lambda w, f: np.sum(np.polyval(f, w)),
    "full_like": lambda w, f: np.sum(np.full_like(w, f) * w),
    "asarray": lambda w, f: np.sum(np.asarray(f, like=w) * w),
    "solve": lambda w, f: np.sum(np.linalg.solve(np.diag(w), f)),
    "norm": lambda w, f: np.linalg.norm(w - f),
    "assigned": lambda w, f: _assigned(w, f),
    "assigned element": lambda w, f: _assigned_element(w, f),
    "flat": lambda w, f: _flat(w, f),
    "output beside w": lambda w, f: np.sum(w) + np.sum(f),
    "called": lambda w, f: np.sum(f(w)) if callable(f) else np.sum(w),
    "output": lambda w, f: f * w,
    "output of F": lambda w, f: f * w[0] if np.ndim(w) else f,
}


# More functions, and what writes; for some of the objects.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "copyto": lambda w, f: _changed(w, lambda y: np.copyto(y, f)),
    "copyto where": lambda w, f: _changed(w, lambda y: np.copyto(y, w, where=f > 1)),
    "putmask": lambda w, f: _changed(w, lambda y: np.putmask(y, f > 1, w)),
    "place": lambda w, f: _changed(w, lambda y: np.place(y, f > 1, w)),
    "y[f > 1] = w": lambda w, f: _changed(w, lambda y: y.__setitem__(f > 1, w[0])),
    "y[f > 1] = f": lambda w, f: _changed(w, lambda y: y.__setitem__(f > 1, f[f > 1])),
    "put": lambda w, f: _changed(w, lambda y: np.put(y, [0, 1], f[:2])),
    "add.at": lambda w, f: _changed(w, lambda y: np.add.at(y, [0, 0, 1], f)),
    "fill": lambda w, f: _changed(w, lambda y: y.fill(f[0])),
    "choose": lambda w, f: np.sum(np.choose([0, 1, 0], [w, f])),
    "select": lambda w, f: np.sum(np.select([f > 1], [w * w], f)),
    "piecewise": lambda w, f: np.sum(np.piecewise(w, [f > 1], [lambda v: v * v, lambda v: v])),
    "digitize": lambda w, f: np.sum(np.digitize(w, np.sort(f)) * w),
    "histogram": lambda w, f: np.sum(np.histogram(w, bins=3, weights=f)[0]),
    "percentile": lambda w, f: np.sum(np.percentile(w, f * 20)),
    "cross": lambda w, f: np.sum(np.cross(w, f) ** 2),
    "kron": lambda w, f: np.sum(np.kron(f, w) ** 2),
    "convolve": lambda w, f: np.sum(np.convolve(f, w) ** 2),
    "searchsorted": lambda w, f: np.sum(w * np.searchsorted(np.sort(f), w)),
    "insert": lambda w, f: np.sum(np.insert(w, 1, f) ** 2),
    "append": lambda w, f: np.sum(np.append(w, f) ** 2),
    "polyfit": lambda w, f: np.polyfit(f, w, 1)[0],
    "gradient": lambda w, f: np.sum(np.gradient(f, w) ** 2),
    "cov": lambda w, f: np.cov(w, f)[0, 1],
    "corrcoef": lambda w, f: np.corrcoef(f, w)[0, 1],
    "hstack": lambda w, f: np.sum(np.hstack([f, w]) ** 2),
    "column_stack": lambda w, f: np.sum(np.column_stack([f, w]) ** 2),
    "meshgrid": lambda w, f: np.sum(np.meshgrid(w, f)[1] * w),
    "linspace": lambda w, f: np.sum(np.linspace(w, f, 4)),
    "inner": lambda w, f: np.inner(f, w),
    "vdot": lambda w, f: np.vdot(f, w),
    "logaddexp": lambda w, f: np.sum(np.logaddexp(w, f)),
    "minimum.reduce": lambda w, f: np.sum(np.minimum.reduce([w, f])),
    "sum where": lambda w, f: np.sum(w * w, where=f > 1),
    "std where": lambda w, f: np.std(w * w, where=f > 0.6),
    "clip of F": lambda w, f: np.sum(np.clip(f, 0, w)),
    "isclose": lambda w, f: np.sum(w * np.isclose(w, f)),
    "out": lambda w, f: _out(w, f),
    "w.clip": lambda w, f: (w * w).clip(0, f).sum(),
    "w[w > F]": lambda w, f: np.sum(w[w > f]),
    "w[F > w]": lambda w, f: np.sum(w[f > w]),
    "loop": lambda w, f: sum(v * w[i] for i, v in enumerate(f)),
}


def _changed(w: Any, change: Callable[[Any], Any]) -> Any:
    y = w * w
    change(y)
    return np.sum(y * w)


def _out(w: Any, f: Any) -> Any:
    out = w * 0
    np.add(w, f, out=out)
    return np.sum(out * out)


def _added(w: Any, f: Any) -> Any:
    y = w.copy()
    y += f
    return np.sum(y * y)


def _assigned(w: Any, f: Any) -> Any:
    y = w * w
    y[...] = f
    y[0] = w[0]
    return np.sum(y * w)


def _assigned_element(w: Any, f: Any) -> Any:
    y = (f * w).copy()
    y[0] = 0
    return np.sum(y)


def _flat(w: Any, f: Any) -> Any:
    y = w * w
    y.flat[:] = f
    return np.sum(y * w)


# The same positions, as indices.
POSITIONS = np.array([0, 2, 2, 1])
INDICES: dict[str, Callable[[], Any]] = {
    "list": lambda: POSITIONS.tolist(),
    "mask": lambda: [True, False, True],
    "memmap mask": lambda: np.array([True, False, True]).view(np.recarray),
    "objects": lambda: POSITIONS.astype(object),
    "Series": made("pandas", lambda pd: pd.Series(POSITIONS)),
    "Series of labels": made("pandas", lambda pd: pd.Series(POSITIONS, index=list("abcd"))),
    "Series of masks": made("pandas", lambda pd: pd.Series([True, False, True], index=[2, 0, 1])),
    "Int64 Series": made("pandas", lambda pd: pd.Series(POSITIONS, dtype="Int64")),
    "codes": made("pandas", lambda pd: pd.Categorical(list("acba"), list("abc")).codes),
    "Index": made("pandas", lambda pd: pd.Index(POSITIONS)),
    "DataArray": made("xarray", lambda xr: xr.DataArray(POSITIONS, dims="k")),
    "astropy": made("astropy.units", lambda u: u.Quantity(POSITIONS, u.one, dtype=int)),
    "pint": made("pint", lambda pint: POSITIONS * pint.UnitRegistry().dimensionless),
    "Dask": made("dask.array", lambda da: da.from_array(POSITIONS, chunks=2)),
    "sparse": made("sparse", lambda sparse: sparse.COO(POSITIONS)),
    "h5py": made("h5py", dataset(POSITIONS)),
    "zarr": made("zarr", lambda zarr: zarr.array(POSITIONS)),
    "polars": made("polars", lambda pl: pl.Series(POSITIONS)),
    "pyarrow": made("pyarrow", lambda pa: pa.array(POSITIONS)),
    "awkward": made("awkward", lambda ak: ak.Array(POSITIONS)),
    "torch": made("torch", lambda torch: torch.tensor(POSITIONS)),
    "jax": made("jax.numpy", lambda jnp: jnp.asarray(POSITIONS)),
}
W = np.array([0.7, 1.3, 0.4, 2.0])
USES: dict[str, Callable[[Any, Any], Any]] = {
    "read": lambda w, i: np.sum(w[i] ** 2),
    "read a row": lambda w, i: np.sum(np.outer(w, w)[i, 0]),
    "read twice": lambda w, i: np.sum(np.outer(w, w)[i, i]),
    "take": lambda w, i: np.sum(np.take(w, i) ** 2),
    "w.take": lambda w, i: np.sum(w.take(i) ** 2),
    "take_along_axis": lambda w, i: np.sum(np.take_along_axis(w, i, 0) ** 2),
    "flat": lambda w, i: np.sum(w.flat[i] ** 2),
    "written": lambda w, i: _written_at(w, i, w[0]),
    "in place": lambda w, i: _updated_at(w, i),
    "add.at": lambda w, i: _added_at(w, i),
    "put": lambda w, i: _put(w, i),
    "bincount": lambda w, i: np.sum(np.bincount(i, weights=w[: len(i)]) ** 2),
    "repeat": lambda w, i: np.sum(np.repeat(w[: len(i)], i) ** 2),
}


def _written_at(w: Any, i: Any, v: Any) -> Any:
    y = w * w
    y[i] = v
    return np.sum(y * w)


def _updated_at(w: Any, i: Any) -> Any:
    y = w * w
    y[i] += w[0]
    return np.sum(y * w)


def _added_at(w: Any, i: Any) -> Any:
    y = w * w
    np.add.at(y, i, w[0])
    return np.sum(y * w)


def _put(w: Any, i: Any) -> Any:
    y = w * w
    np.put(y, i, w[0])
    return np.sum(y * w)
