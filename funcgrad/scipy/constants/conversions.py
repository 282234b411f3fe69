"""Conversions of physical quantities."""

from __future__ import annotations

from funcgrad.scipy.declare import Chapter

Chapter("constants").rerun("convert_temperature lambda2nu nu2lambda")
