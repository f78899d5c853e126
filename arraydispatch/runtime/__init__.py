"""Settings in force, and the placement, dtypes, conversion, threads and heap that follow from them."""
