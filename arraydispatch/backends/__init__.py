"""Backends: one package for each library, loaded lazily by :mod:`arraydispatch.backends.loader`."""
