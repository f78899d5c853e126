"""Commands and other entry points: the command line, ``info``, ``coverage``, notebooks."""


class UsageError(Exception):
    """Error in the command line; the message is one sentence with the remedy."""
