"""Checks that authors of backends run: ``python -m arraydispatch.testing.backend NAME``."""
