"""torch.random: streams of random numbers, the same as PyTorch's for the same seed.

generator.py     the Mersenne twister, and what is made of its words
randomness.py    random numbers under vmap: refused, the same, or different ones
functions.py     rand, randn, randint, ..., and the state of the default stream
sampling.py      bernoulli, multinomial, ..., and the methods that fill a tensor
"""

from funcgrad.torch.public import gather
from funcgrad.torch.random import functions

_NAMES = {
    functions: (
        "default_generator fork_rng get_rng_state initial_seed manual_seed rand rand_like randint "
        "randint_like randn randn_like randperm seed set_rng_state"
    ),
}
gather(globals(), _NAMES)
