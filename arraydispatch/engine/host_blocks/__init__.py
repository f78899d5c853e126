"""Blocks that run on the host: plans, kernels and the threads that compute them."""
