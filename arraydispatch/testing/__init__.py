"""Tests for extensions of arraydispatch by others: ``python -m arraydispatch.testing.backend NAME``."""
