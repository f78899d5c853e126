"""Profiles of where calls ran: counters, records, reports, verification."""
