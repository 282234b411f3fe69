"""One leaf updated by a rule: in blocks of the processor's cache and in place, or as one formula on tracers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.optim.arithmetic import TEMPORARIES, Anew, InPlace

# kernel(arithmetic, x, y, slots, k) -> (x, *slots): the parameter, gradient, state, this step's numbers.
Kernel = Callable[[Any, Any, Any, tuple[Any, ...], Any], tuple[Any, ...]]

# Of each array: a block of all fits into the nearest cache, and is long enough for calls to cost little.
BLOCK_BYTES = 1 << 17
_scratch = threading.local()


def scratch_for(dtype: np.dtype[Any]) -> list[np.ndarray]:
    """This thread's scratch for blocks of a real dtype, allocated once."""
    held = _scratch.__dict__
    buffers = held.get(dtype.char)
    if buffers is None:
        buffers = held[dtype.char] = [
            np.empty(BLOCK_BYTES // dtype.itemsize, dtype) for _ in range(1 + TEMPORARIES)
        ]
    return buffers


def update_in_place(kernel: Kernel, x: Any, y: Any, slots: tuple[Any, ...], k: Any) -> None:
    """Write the next values into the arrays `x` and `slots`, of one shape and dtype. Complex is two reals."""
    arrays, real = (x, y, *slots), x.real.dtype
    scratch = scratch_for(real)
    block = len(scratch[0])
    if all(array.flags.c_contiguous for array in arrays):
        rows = [array.reshape(-1) for array in arrays]
        if x.dtype.kind == "c":
            rows = [row.view(real) for row in rows]
        size = len(rows[0])
        for start in range(0, size, block):
            parts = rows if size <= block else [row[start : start + block] for row in rows]
            _run(kernel, scratch, parts, k)
        return
    access: Any = [["readwrite"], ["readonly"], *[["readwrite"]] * len(slots)]
    blocks = np.nditer(
        arrays,
        flags=["external_loop", "buffered", "zerosize_ok"],
        op_flags=access,
        order="K",
        buffersize=block * real.itemsize // x.dtype.itemsize,
    )
    with blocks:
        for parts in blocks:
            _run(kernel, scratch, [part.view(real) for part in parts], k)


def _run(kernel: Kernel, scratch: list[np.ndarray], parts: list[np.ndarray], k: Any) -> None:
    size = len(parts[0])
    kernel(InPlace([array[:size] for array in scratch]), parts[0], parts[1], tuple(parts[2:]), k)


def updated(kernel: Kernel, x: Any, y: Any, slots: tuple[Any, ...], k: Any) -> tuple[Any, ...]:
    """The next values of `x` and `slots`, which may be tracers and stay as they are; dtypes are kept."""
    before = (x, *slots)
    if x.dtype.kind == "c":
        parts = [kernel(Anew(), part(x), part(y), tuple(map(part, slots)), k) for part in (np.real, np.imag)]
        after: tuple[Any, ...] = tuple(re + 1j * im for re, im in zip(*parts))
    else:
        after = kernel(Anew(), x, y, slots, k)
    return tuple(new if new.dtype == old.dtype else new.astype(old.dtype) for new, old in zip(after, before))


def is_plain(x: Any) -> bool:
    """Is it an array (or a number) that can be computed with in place?"""
    return isinstance(x, (np.ndarray, np.generic, int, float, complex))
