"""``--verify``: runs every call also on NumPy with the same inputs, and reports differing results with their line."""

from __future__ import annotations

from .checked_calls import Difference, Verification

__all__ = ["Difference", "Verification"]
