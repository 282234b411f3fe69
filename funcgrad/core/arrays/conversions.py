"""What is said where a tracer would be turned into plain data, and lose its derivative, or is used after its transform."""

from __future__ import annotations

from typing import Any

from funcgrad.errors import BEGIN, EscapedTracerError, TracerConversionError, foreign_call, user_line

INSTEAD_OF_ARRAY = (
    f"To write x into an array, {BEGIN}; to build an array from tracers write np.stack([x, y]) or np.array([x, y], like=x); to "
    "index a plain table a with it, or call a method of one, write np.asarray(a, like=x)[x] or np.dot(a, x); "
    "for its numbers alone print(x), or return it beside the result (has_aux=True)."
)
INSTEAD_OF_FLOAT = (
    "Use NumPy's function of the same name (np.sin for math.sin), leave float() away, or write "
    f"float(funcgrad.stop_gradient(x)) if the derivative is not meant to count. To write x into an array, {BEGIN}."
)
INSTEAD_OF_LAZY = "Use NumPy's functions, which run on Dask arrays, too: np.sum(a * x) for da.sum(a * x), a @ x for a.dot(x)."


def escaped(operation: str, transform: str) -> EscapedTracerError:
    """The error for a tracer that outlived its transform."""
    return EscapedTracerError(
        f"{operation} at {user_line()} uses a tracer whose {transform} has already returned. It was kept (in a list, a global, "
        "an attribute or a closure) beyond the function being transformed. Return the value from the function instead, "
        "for example with has_aux=True."
    )


def conversion_error(x: Any, what: str, instead: str) -> TracerConversionError | EscapedTracerError:
    """The error for a conversion that would lose the derivative."""
    if not x._trace.is_open:
        return escaped(what, x._trace.transform)
    kind, foreign = type(x).__name__, foreign_call()
    if foreign is not None:
        solvers = " (or funcgrad.root, funcgrad.fixed_point)" if foreign.startswith("scipy.optimize.") else ""
        what, instead = foreign, f"Write funcgrad.{foreign}{solvers} instead, which takes tracers. {instead}"
    message = (
        f"{what} at {user_line()} would turn a {kind} (shape {x.shape}, {x.dtype}) into plain data and lose its derivative. "
        f"{instead}"
    )
    if getattr(x._trace, "refused", None) is None:  # who is told so may not pass it on (failures.py)
        x._trace.refused = message
    return TracerConversionError(message)
