"""Folder on the path of child processes, for its ``sitecustomize`` alone."""
