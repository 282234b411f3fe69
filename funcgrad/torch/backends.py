"""torch.backends, for programs that ask for other machines or switch their options: there is the CPU only."""

from __future__ import annotations

from types import SimpleNamespace

mps = SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
cuda = SimpleNamespace(is_built=lambda: False)
cudnn = SimpleNamespace(is_available=lambda: False, enabled=False, benchmark=False, deterministic=False)
