"""Distribution: the base of all. Shapes, checks, and what follows from sample, log_prob and entropy."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from funcgrad.torch.distributions import constraints
from funcgrad.torch.functions.creation import as_tensor, zeros_like
from funcgrad.torch.functions.ops import in_torch_words
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.graph.modes import enable_grad, no_grad
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.size import Size
from funcgrad.torch.tensors.tensor import Tensor, plain


class Distribution:
    """Base of the distributions: batches (`batch_shape`) of independent ones, whose values have the shape
    `event_shape`.

    `sample` gives values without a gradient; `rsample`, where `has_rsample`, values that are differentiable
    in the parameters. With validate_args (the default in Python without -O) parameters and values outside
    their domain raise ValueError.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[dict[str, Any]] = {}
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Check parameters and values of all distributions from now on, or do not."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args takes True or False, found {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if name in self.__dict__ and not constraints.is_dependent(constraint):
                    self._check_parameter(name, constraint)

    def _check_parameter(self, name: str, constraint: Any) -> None:
        value = getattr(self, name)
        if not bool(np.all(plain(constraint.check(value.detach())))):
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to "
                f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = [name for name in self.arg_constraints if name in self.__dict__]
        values = [self.__dict__[name] for name in shown]
        return f"{type(self).__name__}({', '.join(f'{n}: {v if v.numel() == 1 else v.size()}' for n, v in zip(shown, values))})"

    # ---- shapes ------------------------------------------------------------------------------------------------------
    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters: how many distributions there are."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """The same distribution with its parameters expanded to `batch_shape`."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        shape = Size(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value, event_dim = self.__dict__[name], constraint.event_dim
                made.__dict__[name] = value.expand(*shape, *value.shape[value.dim() - event_dim :])
        made._batch_shape = shape
        return made

    # ---- values ------------------------------------------------------------------------------------------------------
    support: Any = None

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values of the shape sample_shape + batch_shape + event_shape, without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values differentiable in the parameters. Raises NotImplementedError where there is no such way."""
        raise NotImplementedError(
            f"{type(self).__name__}.rsample: its values are not differentiable in the parameters; use sample"
        )

    def sample_n(self, n: int) -> Any:
        """`n` values: sample((n,))."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density (or probability) at `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Any) -> Any:
        """The probability of values up to `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Any) -> Any:
        """The value up to which the probability is `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, along a new first axis."""
        raise NotImplementedError(f"{type(self).__name__} has no finite support")

    def entropy(self) -> Any:
        """The entropy."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy in closed form")

    def perplexity(self) -> Any:
        """e to the power of the entropy."""
        return self.entropy().exp()

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError for what can't be a value."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        expected, found = self._extended_shape(), value.size()
        event_dim = value.dim() - len(self._event_shape)
        if tuple(found[event_dim:]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {found} vs {self._event_shape}."
            )
        for i, j in zip(reversed(found), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {found} vs {expected}."
                )
        valid = self.support.check(value.detach())
        if not bool(np.all(plain(valid))):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({self.support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )


# ---- parameters ------------------------------------------------------------------------------------------------------
class lazy:
    """A property that is computed when it is first asked for, and kept."""

    def __init__(self, compute: Any) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            # from now on found before this descriptor
            found = instance.__dict__[self.name] = self.compute(instance)
        return found


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors of one shape from tensors and numbers."""
    given = [v for v in values if isinstance(v, Tensor)]
    if not all(isinstance(v, (Tensor, int, float, np.generic)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    dtype = given[0].dtype if given else dtypes.get_default_dtype()
    tensors = [v if isinstance(v, Tensor) else as_tensor(v, dtype=dtype) for v in values]
    try:
        return FUNCTIONS["broadcast_tensors"](*tensors)
    except ValueError as error:
        raise in_torch_words(error, tensors) from None


def finfo(x: Any) -> Any:
    """The limits of a tensor's dtype."""
    return np.finfo(x.value.dtype)


def clamp_probs(probs: Any) -> Any:
    """Probabilities away from 0 and 1, so that their logarithms are finite."""
    eps = float(finfo(probs).eps)
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """The logits of probabilities: log(p), or log(p / (1 - p)) of a binary one."""
    held = clamp_probs(probs)
    return held.log() - (-held).log1p() if is_binary else held.log()


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """The probabilities of logits."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def largest_one(x: Any) -> Any:
    """1 where an element is the (first) largest along the last axis, else 0."""
    best = x.argmax(-1, True)
    return zeros_like(x.detach()).scatter(-1, best, 1.0)


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` axes."""
    return value if dim == 0 else value.reshape(*value.shape[: value.dim() - dim], -1).sum(-1)
