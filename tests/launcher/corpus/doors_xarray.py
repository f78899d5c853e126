import numpy as np
import xarray as xr

x = np.arange(12.0)
mask, pick = x > 5, np.array([0, 2])
a = xr.DataArray(x, dims="t", coords={"t": x * 2, "u": ("t", np.sqrt(x).round(3))})
print(a, a + x, x * a, np.maximum(a, mask), np.sin(a).sum().round(9), sep="\n")
print(a[mask].values, a[pick].values, a.where(mask, -x).values, xr.where(a > 3, a, x).values, a.isin(x[:3]).values)
print(a.sel(t=x[3] * 2), a.sel(t=x[pick] * 2).values, a.interp(t=x[:3] + 0.5).values, a.rolling(t=3).mean().values)
print(
    a.groupby(xr.DataArray(np.arange(12) % 3, dims="t", name="k")).mean().values,
    a.groupby_bins("t", x[::5] * 2).sum().values,
)
print(a.polyfit("t", 1).polyfit_coefficients.values.round(6) + 0.0, xr.apply_ufunc(np.cumsum, a).values)
s = xr.Dataset({"p": ("t", x), "q": (("r", "c"), np.ones((3, 4)))})
s["w"] = ("t", x**2)
print(s, s.mean(), s.isel(r=pick).q.shape, s.to_dataframe().shape)
for size in 5, 5000:  # as NumPy's own, an array of a guest is its memory
    g = xr.DataArray(xr.DataArray(range(size)).values * 1.0)
    np.asarray(g)[0], np.ravel(g)[1], np.meshgrid(g, [1], copy=False)[0][0, 2] = 7, 8, 9
    print(g[:3].values, np.asarray(s.to_dataframe().w).flags.writeable)
