"""Every backend held against the contract in arraydispatch/backends/base.py, with NumPy as the oracle."""
