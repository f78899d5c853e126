"""Commands and other ways in: the command line, ``info``, ``coverage``, notebooks."""
