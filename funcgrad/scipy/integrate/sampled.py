"""Integrals of what is given by samples."""

from __future__ import annotations

from funcgrad.scipy.declare import Chapter

integrate = Chapter("integrate")
integrate.rerun("trapezoid simpson cumulative_trapezoid cumulative_simpson romb")
