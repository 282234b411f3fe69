"""torch.autograd.gradcheck and gradgradcheck: derivatives compared with differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.testing.differences import basis
from funcgrad.torch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from funcgrad.torch.func import vmap
from funcgrad.torch.functions.creation import zeros_like
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.backward import grad
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


class GradcheckError(RuntimeError):
    """An analytic derivative differs from the numerical one."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: Any = None,
) -> bool:
    """Compare the derivatives of `func` with central differences; inputs that require grad should be float64.

    The sweep must give the same again (within `nondet_tol`), zeros for zeros, and (with the `check_batched`
    options) the same for batches. With `fast_mode` real Jacobians are compared along one random direction.

    Raises GradcheckError (or returns False) where they differ, ValueError if no input requires grad,
    AssertionError for options that exclude each other and where shape or dtype of outputs depend on values.
    """
    _check_options(check_forward_ad, check_backward_ad, check_batched_grad, check_batched_forward_grad)
    try:
        check = _Check(func, _tuple(inputs), eps, atol, rtol, nondet_tol, fast_mode)
        if check.places:
            if check_backward_ad:
                check.backward(batched=check_batched_grad)
            if check_forward_ad:
                check.forward(batched=check_batched_forward_grad)
        else:
            check.no_slopes()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_options(forward: bool, backward: bool, batched: bool, batched_forward: bool) -> None:
    if not (forward or backward):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if batched and not backward:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if batched_forward and not forward:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")


def _tuple(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, Tensor) else tuple(x)


def _is_float(x: Any) -> bool:
    return isinstance(x, Tensor) and x.value.dtype.kind in "fc"


def _array(x: Any) -> Any:
    return np.array(concrete(x.value))


def _real(x: Any, *, in_pairs: bool) -> Any:
    """A gradient as a row of real numbers: of a complex input the real and the imaginary part in turn."""
    flat = x.reshape(-1)
    return np.stack([flat.real, flat.imag], -1).reshape(-1) if in_pairs else flat.real


class _Check:
    """One function at one point; `where` are the inputs that require grad, `places` the outputs that do."""

    def __init__(
        self,
        func: Any,
        inputs: tuple[Any, ...],
        eps: float,
        atol: float,
        rtol: float,
        again: float,
        fast: bool,
    ) -> None:
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.again, self.rng = again, np.random.default_rng(0)
        self.where = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
        self._check_inputs()
        self.first = _tuple(func(*inputs))
        self.places = [k for k, o in enumerate(self.first) if _is_float(o) and o.requires_grad]
        touched = [self.inputs[i] for i in self.where] + [self.first[k] for k in self.places]
        self.fast = fast and not any(t.value.dtype.kind == "c" for t in touched)

    def _check_inputs(self) -> None:
        if not self.where:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of the them have "
                "requires_grad=True."
            )
        for i in self.where:
            x = self.inputs[i]
            if x.value.dtype not in (np.float64, np.complex128):
                warnings.warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                    "likely fail if all the inputs are not of double precision floating point or complex. ",
                    UserWarning,
                    stacklevel=4,
                )
            if any(n > 1 and step == 0 for n, step in zip(x.shape, x.stride(), strict=True)):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck moves one element at a time: write x.clone()."
                )

    # ---- differences ---------------------------------------------------------------------------------------------

    def _outputs(self, inputs: Any, places: list[int]) -> list[Any]:
        found = _tuple(self.func(*inputs))
        return [found[k] for k in places]

    def _at(self, i: int, value: Any, places: list[int]) -> list[Any]:
        """The outputs where input `i` itself (which `func` may hold by other ways) has another value."""
        self.inputs[i].data.copy_(make_tensor(value))
        outs = self._outputs(self.inputs, places)
        for k, o in zip(places, outs, strict=True):
            for what, now, before in (
                ("shape", o.shape, self.first[k].shape),
                ("dtype", o.dtype, self.first[k].dtype),
            ):
                if now != before:
                    raise AssertionError(
                        f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index {i} by "
                        f"{self.eps}, but got {before} and {now}"
                    )
        return [_array(o) for o in outs]

    def _slopes(self, i: int, places: list[int], directions: Any) -> list[Any]:
        """The change of each output along each direction, by central differences."""
        x = _array(self.inputs[i])
        rows: list[list[Any]] = [[] for _ in places]
        try:
            for direction in directions:
                ends = [self._at(i, x + step * direction, places) for step in (self.eps, -self.eps)]
                for row, upper, lower in zip(rows, *ends, strict=True):
                    row.append(((upper - lower) / (2 * self.eps)).reshape(-1))
        finally:
            self.inputs[i].data.copy_(make_tensor(x))
        return [np.array(row) for row in rows]

    def _directions(self, i: int) -> list[Any]:
        """Along which input `i` is moved: each (real) element, or one random direction."""
        x = _array(self.inputs[i])
        if not self.fast:
            return [unit for _, unit in basis(x)]
        found = self.rng.normal(size=x.shape).astype(x.dtype)
        return [found / max(np.linalg.norm(found.reshape(-1)), 1e-30)]

    def no_slopes(self) -> None:
        """No output requires grad: then none may change, either."""
        places = [k for k, o in enumerate(self.first) if _is_float(o)]
        for i in self.where:
            for slopes in self._slopes(i, places, self._directions(i)):
                if not np.allclose(slopes, 0, atol=self.atol):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    # ---- backward ------------------------------------------------------------------------------------------------

    def _pulled(self, out: Tensor, seed: Tensor, **options: Any) -> list[Any]:
        ins = [self.inputs[i] for i in self.where]
        found = grad(out, ins, seed, retain_graph=True, allow_unused=True, **options)
        return [
            np.zeros((*seed.shape[: seed.ndim - out.ndim], *x.shape), x.value.dtype)
            if g is None
            else _array(g)
            for x, g in zip(ins, found, strict=True)
        ]

    def _pulled_twice(self, out: Tensor, seed: Tensor) -> list[Any]:
        once, twice = self._pulled(out, seed), self._pulled(out, seed)
        for i, a, b in zip(self.where, once, twice, strict=True):
            if not np.allclose(a, b, rtol=0, atol=self.again, equal_nan=True):
                raise GradcheckError(
                    f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                    f"different values, although analytical gradient matches numerical gradient: input {i}.\n"
                    f"The tolerance for nondeterminism was {self.again}."
                )
        return once

    def backward(self, *, batched: bool) -> None:
        """Compare what a sweep gives."""
        outs = self._outputs(self.inputs, self.places)
        differences = []
        for i in self.where:
            directions = self._directions(i)
            differences.append((directions, self._slopes(i, self.places, directions)))
        for k, out in enumerate(outs):
            seeds = list(self._seeds(out))
            pulled = [self._pulled_twice(out, seed) for seed in seeds]
            kind = "complex" if _array(out).dtype.kind == "c" else ""
            for n, (i, (directions, slopes)) in enumerate(zip(self.where, differences, strict=True)):
                pair = self._matrices(out, seeds, [p[n] for p in pulled], directions, slopes[k])
                self._compare(*pair, k, i, kind)
        for out in outs:
            for i, zeros in zip(self.where, self._pulled(out, zeros_like(out)), strict=True):
                if zeros.any():
                    raise GradcheckError(f"backward not multiplied by grad_output (input {i})")
            if batched:
                self._check_batch(out)

    def _seeds(self, out: Tensor) -> Iterator[Tensor]:
        x = _array(out)
        if self.fast:
            yield make_tensor(self.rng.normal(size=x.shape).astype(x.dtype))
        else:
            for unit in np.eye(x.size, dtype=x.dtype):
                yield make_tensor(unit.reshape(x.shape))
                if x.dtype.kind == "c":
                    yield make_tensor(1j * unit.reshape(x.shape))

    def _matrices(
        self, out: Tensor, seeds: Any, gradients: Any, directions: Any, slopes: Any
    ) -> tuple[Any, Any]:
        """(from the sweep, from differences), directions by elements of the output."""
        if self.fast:
            return np.sum(gradients[0] * directions[0]), slopes[0] @ _array(seeds[0]).reshape(-1)
        in_pairs = directions and directions[0].dtype.kind == "c"
        rows = np.array([_real(g, in_pairs=bool(in_pairs)) for g in gradients])
        if out.value.dtype.kind == "c":
            rows = rows[::2] + 1j * rows[1::2]
        return rows.T.reshape(len(directions), out.numel()), slopes

    def _check_batch(self, out: Tensor) -> None:
        """A batch of two cotangents gives what each of them gives."""
        x = _array(out)
        seeds = self.rng.normal(size=(2, *x.shape)).astype(x.dtype)
        try:
            both = self._pulled(out, make_tensor(seeds), is_grads_batched=True)
        except RuntimeError as error:
            raise GradcheckError(
                f"gradcheck or gradgradcheck failed while testing batched gradient computation: {error}. Pass "
                "check_batched_grad=False if you don't use vmap over the gradient."
            ) from error
        each = zip(*[self._pulled(out, make_tensor(seed)) for seed in seeds], strict=True)
        self._check_parts(both, each, "gradient")

    def _check_parts(self, both: Any, each: Any, what: str) -> None:
        for n, (whole, parts) in enumerate(zip(both, each, strict=True)):
            if not np.allclose(whole, np.stack(parts), rtol=self.rtol, atol=self.atol, equal_nan=True):
                raise GradcheckError(
                    f"gradcheck or gradgradcheck failed while testing batched {what} computation: number {n} of the results "
                    f"differs.\nin a batch: {whole}\none by one: {parts}"
                )

    # ---- forward -------------------------------------------------------------------------------------------------

    def _pushed(self, i: int, tangent: Tensor) -> list[Tensor]:
        with dual_level():
            given = [x.detach() if isinstance(x, Tensor) else x for x in self.inputs]
            given[i] = make_dual(given[i], tangent)
            outs = self._outputs(given, self.places)
            parts = [unpack_dual(o) for o in outs]
            return [zeros_like(p.primal) if p.tangent is None else p.tangent for p in parts]

    def forward(self, *, batched: bool) -> None:
        """Compare what dual numbers give."""
        for i in self.where:
            directions = self._directions(i)
            slopes = self._slopes(i, self.places, directions)
            pushed = [[_array(t).reshape(-1) for t in self._pushed(i, make_tensor(d))] for d in directions]
            for k, expected in enumerate(slopes):
                found = np.array([row[k] for row in pushed]).reshape(expected.shape)
                self._compare(found, expected, k, i, "forward")
            if batched:
                x = _array(self.inputs[i])
                tangents = make_tensor(self.rng.normal(size=(2, *x.shape)).astype(x.dtype))
                both = vmap(lambda t, i=i: tuple(self._pushed(i, t)))(tangents)
                each = zip(*[[_array(t) for t in self._pushed(i, t)] for t in tangents], strict=True)
                self._check_parts([_array(t) for t in both], each, "forward gradient")

    def _compare(self, found: Any, expected: Any, k: int, i: int, how: str) -> None:
        text = {
            "": "Jacobian mismatch",
            "complex": "Jacobian mismatch",
            "forward": "Jacobian computed with forward mode mismatch",
        }[how]
        for part in ("imag", "real") if how == "complex" else ("",):
            a, b = (getattr(found, part), getattr(expected, part)) if part else (found, expected)
            if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=self.rtol, atol=self.atol):
                which = {"imag": "imaginary", "real": "real"}.get(part, "")
                where = f"While considering the {which} part of complex outputs only, " if which else ""
                raise GradcheckError(
                    f"{where}{text} for output {k} with respect to input {i},\nnumerical:{b}\nanalytical:{a}\n"
                )


def _with_graph(outs: Any) -> list[Tensor]:
    return [o for o in _tuple(outs) if _is_float(o) and o.requires_grad]


def _cotangents(outs: Any) -> tuple[Tensor, ...]:
    rng = np.random.default_rng(0)
    drawn = [rng.normal(size=o.shape).astype(o.value.dtype) for o in _with_graph(outs)]
    return tuple(make_tensor(x).requires_grad_() for x in drawn)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    **options: Any,
) -> bool:
    """gradcheck of the gradient of `func`: by a sweep over a sweep, and (check_fwd_over_rev) by dual numbers."""
    given = _tuple(inputs)
    cts = _cotangents(func(*given)) if grad_outputs is None else _tuple(grad_outputs)
    where = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]

    def gradient(*args: Any) -> Any:
        ins, seeds = args[: len(given)], args[len(given) :]
        fresh = [x.requires_grad_() if i in where and not x.requires_grad else x for i, x in enumerate(ins)]
        with modes.enable_grad():
            return grad(
                _with_graph(func(*fresh)),
                [fresh[i] for i in where],
                seeds,
                create_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )

    return gradcheck(
        gradient,
        (*given, *cts),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        fast_mode=fast_mode,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
    )
