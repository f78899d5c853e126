"""Profiles of what ran where: counters, records, reports, verification."""
