"""The fast lanes: what `bind -> apply -> record` would do, generated for hot calls. Read them in this order:

    reverse.py   ufuncs, and functions of one array, on a tracer of reverse mode; the entrance to the other two
    forward.py   the same on a tracer of forward mode
    batch.py     and on the batch of a vmap
    pulls.py     what the sweep calls for each node

Whatever is not the plain case goes to the general lane, the engine. Nothing depends on these files but speed.
"""
