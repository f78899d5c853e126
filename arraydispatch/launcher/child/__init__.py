"""Folder that is put on the path of child processes so that they import its ``sitecustomize``."""
