"""The error of a wrong command line."""

from __future__ import annotations


class UsageError(Exception):
    """Error in the command line; the message is one sentence with the remedy."""
