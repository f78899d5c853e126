"""Settings in force; placement, dtypes and conversion, which depend on them; resources of the process."""
