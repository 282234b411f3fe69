"""Losses as modules: a row names the module and its function; the settings and what they mean are the function's."""

from __future__ import annotations

from functools import partial
from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.distances import PairwiseDistance
from funcgrad.torch.nn.from_functions import module
from funcgrad.torch.nn.module import Module

_loss = partial(module, shows="")


class _Loss(Module):
    """The base of a loss of one's own: it keeps how the elements are reduced."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """The same, with a weight for each class."""

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.weight: Any


def _check_classes(self: Any) -> None:
    if self.p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if self.weight is not None and self.weight.dim() != 1:
        raise ValueError(
            f"MultiMarginLoss: expected weight to be None or 1D tensor, got {self.weight.dim()}D instead"
        )


def _check_margin(self: Any) -> None:
    if self.margin <= 0:
        name = type(self).__name__
        raise ValueError(f"{name}: expected margin to be greater than 0, got {self.margin} instead")


def _with_distance(self: Any) -> None:
    _check_margin(self)
    if self.distance_function is None:
        self.distance_function = PairwiseDistance()


# ---- of numbers ------------------------------------------------------------------------------------------------------
L1Loss = _loss("L1Loss", functional.l1_loss, arguments="size_average reduce reduction")
MSELoss = _loss("MSELoss", functional.mse_loss, arguments="size_average reduce reduction")
SmoothL1Loss = _loss("SmoothL1Loss", functional.smooth_l1_loss)
HuberLoss = _loss("HuberLoss", functional.huber_loss, arguments="reduction delta")
PoissonNLLLoss = _loss("PoissonNLLLoss", functional.poisson_nll_loss, "log_input target")
GaussianNLLLoss = _loss("GaussianNLLLoss", functional.gaussian_nll_loss, arguments="* full eps reduction")

# ---- of classes and probabilities ------------------------------------------------------------------------------------
CrossEntropyLoss = _loss("CrossEntropyLoss", functional.cross_entropy)
NLLLoss = _loss("NLLLoss", functional.nll_loss)
BCELoss = _loss("BCELoss", functional.binary_cross_entropy)
BCEWithLogitsLoss = _loss("BCEWithLogitsLoss", functional.binary_cross_entropy_with_logits)
KLDivLoss = _loss("KLDivLoss", functional.kl_div)
CTCLoss = _loss("CTCLoss", functional.ctc_loss)

# ---- with margins ----------------------------------------------------------------------------------------------------
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", functional.hinge_embedding_loss)
SoftMarginLoss = _loss("SoftMarginLoss", functional.soft_margin_loss)
MarginRankingLoss = _loss("MarginRankingLoss", functional.margin_ranking_loss)
MultiMarginLoss = _loss("MultiMarginLoss", functional.multi_margin_loss, then=_check_classes)
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", functional.multilabel_margin_loss)
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", functional.multilabel_soft_margin_loss)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", functional.cosine_embedding_loss)
TripletMarginLoss = _loss("TripletMarginLoss", functional.triplet_margin_loss, then=_check_margin)
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", functional.triplet_margin_with_distance_loss, then=_with_distance
)
