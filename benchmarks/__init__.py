"""funcgrad beside hand-written NumPy and its peers: `python -m benchmarks` (or `make bench`).

    problems/     what is measured: each function, its gradient written by hand, and the data
    peers.py      the libraries that take part if they are installed, behind one interface
    measure.py    time (all runs of a problem in turns, so that a busy machine is busy for all), memory, import time
    report.py     the table, and the same as JSON

The hand-written gradients are what an expert would write: the function as it stands, followed by the shortest
formulas that share its intermediate results, with buffers reused where that pays. Every gradient is compared
with them before it is timed.

All figures are for one thread, so it has to be said before NumPy, PyTorch or JAX is first imported.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_name] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
