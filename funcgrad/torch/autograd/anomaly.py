"""detect_anomaly: which operation made the NaN, and where it was called."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from funcgrad.core.cotangent import dense
from funcgrad.core.reverse import Node
from funcgrad.core.trace import concrete
from funcgrad.torch.modes import MODE, ModeManager, changed


class Anomaly:
    """The state while anomalies are watched for: the traceback of each node."""

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan
        self.traces: WeakKeyDictionary[Node, str] = WeakKeyDictionary()

    def note(self, node: Node) -> None:
        """Remember where a node was made."""
        frames = [f for f in traceback.extract_stack() if "/funcgrad/" not in f.filename]
        self.traces[node] = "".join(traceback.format_list(frames))

    def check(self, node: Node, parts: Sequence[Any]) -> None:
        """Raise where a node gave NaN."""
        for k, part in enumerate(parts):
            value = None if part is None else concrete(dense(part))
            if value is not None and getattr(value, "dtype", np.dtype(int)).kind in "fc" and np.isnan(value).any():
                name = node.plan.name if node.plan is not None else ""
                where = self.traces.get(node)
                if where is not None:
                    warnings.warn(
                        f"Error detected in {name}. Traceback of forward call that caused the error:\n{where}",
                        UserWarning,
                        stacklevel=6,
                    )
                raise RuntimeError(f"Function '{name}' returned nan values in its {k}th output.")


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

    def fields(self) -> dict[str, Any]:
        return {"anomaly": Anomaly(self.check_nan)}

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

    def fields(self) -> dict[str, Any]:
        return {"anomaly": Anomaly(self.check_nan) if self.mode else None}

    def __enter__(self) -> Any:
        return self
