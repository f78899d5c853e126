"""Recording of calls: the tape, writes and updates on it, floating-point reports."""
