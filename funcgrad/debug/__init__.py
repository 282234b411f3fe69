"""Find where a NaN comes from, what a failing derivative belongs to, which tracers outlive a transform.

    with debug.nans():    an error where the first NaN or inf appears, on the way forward or back
    with debug.lines():   errors in the backward sweep name the line that computed what is differentiated
    with debug.leaks():   an error that lists the tracers that were kept beyond their transform

They watch the transforms that are called within, in this thread or task alone. Elsewhere nothing is paid for
them: only a new trace asks whether somebody watches, and becomes one of a subclass then.

In reading order: `contexts` (these three), `traces` (what watches), `numbers` (looks for NaN and inf),
`holders` (who keeps a tracer alive).
"""

from funcgrad.debug.contexts import leaks, lines, nans
from funcgrad.errors import EscapedTracerError, NumericalError

__all__ = ["EscapedTracerError", "NumericalError", "leaks", "lines", "nans"]
