"""torch.fft and torch.special."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.nn.kernels.special import DIGAMMA, ENTR, ERF, ERFC, ERFINV, LGAMMA, POLYGAMMA
from funcgrad.torch.functions import elementwise, reduce  # noqa: F401 (what is declared there is used below)
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import FUNCTIONS, enter
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

FFT: dict[str, Any] = {}


def _transform(name: str) -> Any:
    function = getattr(np.fft, name)

    def body(input: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        return _as_single(input, function(input, n, dim, norm))

    body.__doc__ = f"np.fft.{name} along `dim`."
    return body


def _transform_many(name: str, default: Any) -> Any:
    function = getattr(np.fft, name)

    def body(input: Any, s: Any = None, dim: Any = default, norm: Any = None) -> Any:
        return _as_single(input, function(input, s, dim, norm))

    body.__doc__ = f"np.fft.{name} along several dims."
    return body


def _as_single(x: Any, out: Any) -> Any:
    """Single precision stays single."""
    if x.dtype in (np.float32, np.complex64) and out.dtype.itemsize > (4 if out.dtype.kind == "f" else 8):
        return out.astype(np.float32 if out.dtype.kind == "f" else np.complex64)
    return out


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    FFT[_name] = Op(
        f"fft_{_name}",
        _transform(_name),
        f"Fft{'R2C' if _name == 'rfft' else 'C2R' if _name == 'irfft' else 'C2C'}Backward0",
    )
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    FFT[_name] = Op(f"fft_{_name}", _transform_many(_name, (-2, -1)), "FftC2CBackward0")
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    FFT[_name] = Op(f"fft_{_name}", _transform_many(_name, None), "FftC2CBackward0")

_OPPOSITE: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _hermitian(input: Any, s: Any, dim: Any, norm: Any) -> Any:
    """The real transform of half of a Hermitian-symmetric signal."""
    return _as_single(input, np.fft.irfftn(np.conjugate(input), s, dim, _OPPOSITE[norm]))


def _to_hermitian(input: Any, s: Any, dim: Any, norm: Any) -> Any:
    """The inverse of that: half of a Hermitian-symmetric signal."""
    return _as_single(input, np.conjugate(np.fft.rfftn(input, s, dim, _OPPOSITE[norm])))


for _name, _body in (("hfft", _hermitian), ("ihfft", _to_hermitian)):
    for _end, _dims in (("2", (-2, -1)), ("n", None)):
        FFT[_name + _end] = Op(
            f"fft_{_name}{_end}",
            lambda input, s=None, dim=_dims, norm=None, _body=_body: _body(input, s, dim, norm),
            "FftC2RBackward0" if _name == "hfft" else "ConjBackward0",
        )


def _shift(numpy_function: Any) -> Any:
    return lambda input, dim=None: numpy_function(input, dim)


FFT["fftshift"] = Op("fft_fftshift", _shift(np.fft.fftshift), "RollBackward0")
FFT["ifftshift"] = Op("fft_ifftshift", _shift(np.fft.ifftshift), "RollBackward0")

# ---- torch.special -----------------------------------------------------------------------------------------------------


def _xlogy(input: Any, other: Any) -> Any:
    """input * log(other), and 0 where input is 0."""
    x, y = dtypes.aligned((input, other), floating=True)
    zero = np.logical_and(x == 0, np.logical_not(np.isnan(y)))
    return np.where(zero, 0, x * np.log(np.where(zero, 1, y)))


SPECIAL: dict[str, Any] = {
    name: FUNCTIONS[other]
    for name, other in {
        "expit": "sigmoid",
        "exp2": "exp2",
        "expm1": "expm1",
        "log1p": "log1p",
        "logit": "logit",
        "logsumexp": "logsumexp",
        "softmax": "softmax",
        "log_softmax": "log_softmax",
        "sinc": "sinc",
        "round": "round",
    }.items()
}
for _name, _body in (("xlogy", _xlogy), ("entr", ENTR.__call__), ("i0", lambda input: np.i0(input))):
    SPECIAL[_name] = enter(_name, Op(_name, _body), "fmi" if _name != "entr" else "")


# ---- the error function, the gamma function ---------------------------------------------------------------------------
for _name, _kernel in (
    ("erf", ERF),
    ("erfc", ERFC),
    ("erfinv", ERFINV),
    ("lgamma", LGAMMA),
    ("digamma", DIGAMMA),
):
    enter(
        _name,
        Op(_name, lambda input, _kernel=_kernel: _kernel(*dtypes.aligned((input,), floating=True))),
        "fmi",
    )
    SPECIAL[_name] = getattr(Tensor, _name)
SPECIAL["gammaln"], SPECIAL["psi"] = SPECIAL["lgamma"], SPECIAL["digamma"]
SPECIAL["polygamma"] = enter("polygamma", Op("polygamma", lambda n, input: POLYGAMMA(n, input)), "f")
Tensor.polygamma = lambda self, n: SPECIAL["polygamma"](n, self)
