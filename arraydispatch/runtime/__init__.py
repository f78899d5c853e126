"""Settings in force, the placement, dtypes and conversion that follow from them, and the resources of the process."""
