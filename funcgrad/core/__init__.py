"""The core, in five rooms. Each opens with a page that names its files in reading order.

    engine     traces, primitives, rule kinds, the sweep: how a call is recorded, pushed, pulled and batched
    arrays     what makes a tracer look like an ndarray: protocols, methods, ufuncs, and what is refused
    memory     what tracers share as arrays do: x[index], views, item assignment, buffers
    messages   what users are told when something can't be done
    lanes      the same as the engine does, generated, for the calls that hot code makes

wiring.py puts them together; libraries.py imports rules that are asked for late.
"""

from funcgrad.core import wiring as wiring
