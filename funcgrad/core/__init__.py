"""The engine. Read it in this order:

    trace.py       who handles this call? traces, tracers, `bind`
    methods.py     what makes a tracer look like an ndarray
    catalogue.py   every NumPy function, once, with its status
    primitive.py   how a call's arguments are bound; ufunc.py, the same for ufuncs; folds.py, their reduce and accumulate
                   axis_argument.py, out_argument.py, how functions read `axis` and `out`
    kinds.py       the rule kinds: one derivative, two directions; named.py, those whose formulas name the call's arguments
    cotangent.py   what a cotangent may be; the one place that undoes broadcasting and promotion
    reverse.py     the tape and the sweep; owned.py, what the sweep may overwrite
    forward.py     tangents
    batch.py       vmap
    lanes.py       the same as bind -> apply -> record, generated, for the calls that hot code makes
    indexing.py    x[index]; batch_index.py, the same under vmap
    views.py       what looks into the same array, and what it sees of writes; layout.py, how arrays lie in memory
    mutation.py    x[index] = v; places.py, where that goes; loops.py, the lane of loops; inplace.py, x += v
    guard.py       plain arrays that were saved
    blank.py       new arrays, in which nothing is traced yet
    declare.py     the verbs that declare rules
"""
