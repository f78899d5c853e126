"""``--verify``: every call also runs on NumPy from the same inputs, and results that differ are named with their line."""

from __future__ import annotations

from .checked_calls import Difference, Verification

__all__ = ["Difference", "Verification"]
