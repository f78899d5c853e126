"""``--verify``: every call also runs on NumPy with the same inputs; differing results are reported with their line."""

from __future__ import annotations

from .checked_calls import Difference, Verification

__all__ = ["Difference", "Verification"]
