"""torch.optim: optimizers, and the schedules of their learning rates.

optimizer.py   the base          groups.py, checkpoints.py   its parameter groups, its state as a dict
stepping.py    steps by a rule of funcgrad.optim              algorithms.py   SGD, Adam, ...      lbfgs.py   LBFGS
one_by_one.py  Adafactor, SparseAdam, Muon
lr_scheduler/  schedules         swa_utils.py                 averages of models
"""

from funcgrad.torch.optim import algorithms, lbfgs, lr_scheduler, one_by_one, optimizer, swa_utils
from funcgrad.torch.public import gather

_NAMES = {
    algorithms: "ASGD SGD Adadelta Adagrad Adam Adamax AdamW NAdam RAdam RMSprop Rprop",
    lbfgs: "LBFGS",
    one_by_one: "Adafactor Muon SparseAdam",
    optimizer: "Optimizer",
}
gather(globals(), _NAMES, lr_scheduler, swa_utils)
