"""Sequences of different lengths: padded to one tensor, or packed, step by step, without padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.embedding import ROWS_AT
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


class PackedSequence(_Packed):
    """Sequences in one tensor `data`: the elements of step 0, then those of step 1, and so on.

    `batch_sizes` (int64) says how many sequences each step has. The sequences are in order of their lengths;
    `sorted_indices` and `unsorted_indices` say where each was before (None: there). Made by
    `pack_padded_sequence`.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None and sorted_indices is not None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **options: Any) -> PackedSequence:
        """The same with `data` converted."""
        return self._replace(data=self.data.to(*args, **options))

    def double(self) -> PackedSequence:
        """The same in float64."""
        return self._replace(data=self.data.double())

    def float(self) -> PackedSequence:
        """The same in float32."""
        return self._replace(data=self.data.float())

    def cpu(self) -> PackedSequence:
        """Where it is already."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Always False."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one."""
    return (
        None if permutation is None else make_tensor(np.argsort(concrete(permutation.value), kind="stable"))
    )


_ROWS = Op(
    "pack_padded_sequence",
    lambda input, places: ROWS_AT(_as_rows(input), places),
    "PackPaddedSequenceBackward0",
)


def _as_rows(x: Any) -> Any:
    """(T, N, ...) as (T*N, the rest)."""
    return x.reshape(x.shape[0] * x.shape[1], -1)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences (T, N, ...) of these lengths (N).

    With `enforce_sorted` the lengths must not increase; otherwise they are sorted here. Raises RuntimeError
    or ValueError for lengths that do not fit.
    """
    if batch_first:
        input = input.transpose(0, 1)
    steps, count = input.shape[:2]
    found = np.asarray(concrete(lengths.value) if isinstance(lengths, Tensor) else lengths, np.int64)
    permutation = None if enforce_sorted else np.argsort(-found, kind="stable")
    if permutation is not None:
        found, input = found[permutation], input.index_select(1, make_tensor(permutation))
    _check_lengths(found, steps, count)
    sizes = (found[None, :] > np.arange(found[0])[:, None]).sum(axis=1)
    places = np.concatenate([t * count + np.arange(n) for t, n in enumerate(sizes)])
    data = _ROWS(input, make_tensor(places)).reshape(-1, *input.shape[2:])
    return PackedSequence(data, make_tensor(sizes), None if permutation is None else make_tensor(permutation))


def _check_lengths(lengths: np.ndarray, steps: int, count: int) -> None:
    if len(lengths) != count:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={count})"
        )
    if lengths.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if np.any(np.diff(lengths) > 0):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence to have them sorted here"
        )
    if lengths[0] > steps:
        raise RuntimeError(
            f"Expected lengths of at most {steps}, the number of steps of the input, but found {lengths[0]}"
        )


def _padded(input: Any, places: Any, missing: Any, value: float) -> Any:
    rows = ROWS_AT(input.reshape(input.shape[0], -1), places)
    return np.where(missing[..., None], np.asarray(value, rows.dtype), rows)


_PADDED = Op("pad_packed_sequence", _padded, "PadPackedSequenceBackward0")


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The sequences, padded to (T, N, ...), and their lengths: the inverse of `pack_padded_sequence`.

    `total_length` asks for more steps; ValueError if these are fewer than there are.
    """
    sizes = np.asarray(concrete(sequence.batch_sizes.value))
    steps, longest = len(sizes), len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        steps = total_length
    full = np.zeros(steps, np.int64)
    full[:longest] = sizes
    starts = np.concatenate([[0], np.cumsum(full)[:-1]])
    columns = np.arange(sizes[0])
    missing = columns >= full[:, None]
    places = np.where(missing, 0, starts[:, None] + columns)
    out = _PADDED(sequence.data, make_tensor(places), make_tensor(missing), padding_value)
    out = out.reshape(steps, len(columns), *sequence.data.shape[1:])
    lengths = make_tensor((~missing).sum(axis=0))
    if sequence.unsorted_indices is not None:
        out = out.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return out.transpose(0, 1) if batch_first else out, lengths


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (T_i, ...) side by side, padded to the length of the longest: (T, N, ...), or (N, T, ...).

    >>> import funcgrad.torch as torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    from funcgrad.torch.functions.join import stack
    from funcgrad.torch.nn.functional.padding import pad

    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(len(s) for s in sequences)
    padded = []
    for s in sequences:
        more = longest - len(s)
        sides = (more, 0) if padding_side == "left" else (0, more)
        padded.append(pad(s, (0, 0) * (s.ndim - 1) + sides, value=padding_value) if more else s)
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The list of sequences that `pad_sequence` was given."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[: int(n)] for s, n in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (T_i, ...)."""
    lengths = make_tensor(np.array([len(s) for s in sequences]))
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The list of sequences that `pack_sequence` was given."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
