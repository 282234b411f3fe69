"""Dropout as modules: active in training mode only."""

from __future__ import annotations

from functools import partial
from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.from_functions import module


def _check(self: Any) -> None:
    if not 0 <= self.p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")


_dropout = partial(module, shows="p={p}, inplace={inplace}", then=_check)

Dropout = _dropout("Dropout", functional.dropout)
Dropout1d = _dropout("Dropout1d", functional.dropout1d)
Dropout2d = _dropout("Dropout2d", functional.dropout2d)
Dropout3d = _dropout("Dropout3d", functional.dropout3d)
AlphaDropout = _dropout("AlphaDropout", functional.alpha_dropout)
FeatureAlphaDropout = _dropout("FeatureAlphaDropout", functional.feature_alpha_dropout)
