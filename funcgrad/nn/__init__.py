"""Layers and losses as pure functions of arrays."""
