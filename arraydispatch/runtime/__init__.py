"""Settings in force, and the placement, dtypes, conversion and threads that follow from them."""
