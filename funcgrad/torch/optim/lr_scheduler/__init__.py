"""torch.optim.lr_scheduler: schedules of learning rates.

base.py      what they have in common       decays.py    factors on the learning rate, epoch by epoch
cosine.py    cosine annealing               cycles.py    learning rate and momentum up and down
plateau.py   by a measure                   compound.py  several after, or beside, one another
"""

from funcgrad.torch.optim.lr_scheduler import base, compound, cosine, cycles, decays, plateau
from funcgrad.torch.public import gather

_NAMES = {
    base: "LRScheduler",
    compound: "ChainedScheduler SequentialLR",
    cosine: "CosineAnnealingLR CosineAnnealingWarmRestarts",
    cycles: "CyclicLR OneCycleLR",
    decays: ("ConstantLR ExponentialLR LambdaLR LinearLR MultiplicativeLR MultiStepLR PolynomialLR StepLR"),
    plateau: "ReduceLROnPlateau",
}
gather(globals(), _NAMES)
_LRScheduler = base.LRScheduler
EPOCH_DEPRECATION_WARNING = base.EPOCH_DEPRECATION_WARNING
