"""Tests that others run on what they add to arraydispatch: ``python -m arraydispatch.testing.backend NAME``."""
