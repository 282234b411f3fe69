"""detect_anomaly: which operation made the NaN, and where it was called."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.reverse import ReverseTracer
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import concrete
from funcgrad.errors import user_line
from funcgrad.torch.graph.modes import MODE, ModeManager, changed
from funcgrad.typed import override


class Anomaly:
    """The state while anomalies are watched for: the traceback of each node."""

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan
        self.traces: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
        self.lines: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
        self.strange: WeakKeyDictionary[Node, bool] = WeakKeyDictionary()

    def note(self, node: Node, out: Any, operands: Sequence[Any]) -> None:
        """Remember where a node was made, and whether its operation made NaN of numbers."""
        frames = [f for f in traceback.extract_stack() if "/funcgrad/" not in f.filename]
        self.traces[node], self.lines[node] = "".join(traceback.format_list(frames)), user_line()
        self.strange[node] = _has_nan(out) and not any(map(_has_nan, operands))

    def check(self, node: Node, parts: Sequence[Any]) -> None:
        """Raise where a node gave NaN."""
        name = node.plan.name if node.plan is not None else ""
        for k, part in enumerate(parts):
            if part is not None and _has_nan(dense(part)):
                self._report(node, f"Function '{name}' returned nan values in its {k}th output.")
        if self.strange.pop(node, False):
            warnings.warn(
                f"The operation of '{name}' at {self.lines[node]} made nan values in the forward pass; its gradient is finite.",
                UserWarning,
                stacklevel=6,
            )
        self._pass_on(node, parts)

    def _pass_on(self, node: Node, parts: Sequence[Any]) -> None:
        """What create_graph recorded of this step (later nodes, lower orders) belongs to its node's line."""
        made = [part._node for part in parts if isinstance(part, ReverseTracer) and part._node is not None]
        while made and node in self.traces:
            new = made.pop()
            if new.number < node.number and new.plan is not None and new not in self.traces:
                self.traces[new], self.lines[new] = self.traces[node], self.lines[node]
                made.extend(new.parents)

    def _report(self, node: Node, what: str) -> None:
        where = self.traces.get(node)
        if where is None:
            raise RuntimeError(what)
        name = node.plan.name if node.plan is not None else ""
        text = f"Error detected in {name}. Traceback of forward call that caused the error:\n{where}"
        warnings.warn(text, UserWarning, stacklevel=7)
        raise RuntimeError(f"{what} The operation was called at {self.lines[node]}.")


def _has_nan(x: Any) -> bool:
    value = concrete(x)
    return getattr(value, "dtype", np.dtype(int)).kind in "fc" and bool(np.isnan(value).any())


class detect_anomaly(ModeManager):
    """While this is open, operations know where they were called, and a backward that makes NaN raises."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    @override
    def fields(self) -> dict[str, Any]:
        return {"anomaly": Anomaly(self.check_nan)}

    @override
    def clone(self) -> ModeManager:
        made = object.__new__(detect_anomaly)
        ModeManager.__init__(made)
        made.check_nan = self.check_nan
        return made


class set_detect_anomaly(detect_anomaly):
    """Switch it on or off: at once, or for a `with` block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        ModeManager.__init__(self)
        self.mode, self.check_nan = mode, check_nan
        self._before.append(MODE.get())
        MODE.set(changed(**self.fields()))

    @override
    def fields(self) -> dict[str, Any]:
        return {"anomaly": Anomaly(self.check_nan) if self.mode else None}

    def __enter__(self) -> Any:
        return self
