"""How a call is recorded, pushed, pulled and batched. Read it in this order:

trace.py       who handles this call? traces, tracers, `bind`
catalogue.py   every NumPy function, once, with its status
primitive.py   calls, and the functions that are one step
kinds.py       the rule kinds: one derivative, two directions; named.py, those whose formulas name the call's arguments
cotangent.py   what a cotangent may be; the one place that undoes broadcasting and promotion
sweep.py       the tape and the sweep
reverse.py     the trace that records the tape
forward.py     tangents
roots.py       even powers of abs, sqrt, norm, ..., which are smooth where these are not
batch.py       vmap
let_go.py      traces of functions whose author knows of none: what they keep is as good as its value
declare.py     the verbs that declare rules
"""
