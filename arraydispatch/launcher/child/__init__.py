"""The folder that child processes have on their path: for its ``sitecustomize`` alone."""
