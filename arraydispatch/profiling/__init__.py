"""Profiles, which record where calls ran: counters, records, reports, verification."""
