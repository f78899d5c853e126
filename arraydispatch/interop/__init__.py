"""Arrays and other packages in library use: SciPy, xarray, dask and their like."""
