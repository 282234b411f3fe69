"""The graph of tensors: the tape that records it, the sweep over it, and what watches both.

    modes.py         no_grad and its relatives: is anything recorded?
    locations.py     where in the user's code an operation was called
    tape.py          nodes: the core's, under PyTorch's names
    lanes.py         the fast way through the operators and elementwise functions of hot code
    nodes.py         nodes as objects for the user: next_functions, edges, hooks on several tensors
    hooks.py         what a sweep is to do beside pulling
    saved.py         what happens to the values that nodes save
    exchange.py      cotangents as the gradients that a user sees; what is gone once it was freed
    engine.py        the sweep
    duals.py         dual tensors among those of a graph
    backward.py      backward and grad: from tensors to the seeds of a sweep, from cotangents to gradients
    duals.py         dual tensors whose parts lie in the graph
    dead_ends.py     tensors without a known history: an error, not a zero
    anomaly.py       which operation made the NaN
    captured.py      writes inside a transform to tensors from outside it

PyTorch's public names for these are in `funcgrad.torch.autograd`.
"""
