"""Profiles, that is, records of where calls ran: counters, records, reports, verification."""
