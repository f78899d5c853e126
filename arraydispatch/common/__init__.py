"""Foundations that every other package may use: errors, events, pytrees, tracing, callers, patches."""
