import warnings

import numpy as np
import pandas as pd

rng = np.random.default_rng(5)
w = rng.normal(size=8)
frame = pd.DataFrame({"a": w, "b": np.arange(8) % 3, "c": np.cumsum(w)})
print(frame[w > 0].round(4))
print(frame.groupby("b")["a"].agg(np.mean).round(6).tolist(), frame["a"].apply(np.sign).sum())
frame["d"] = np.where(frame["a"] > 0, frame["c"], 0.0)
print(np.round(np.sqrt(frame["d"].abs()).to_numpy().sum(), 6), np.log1p(frame["a"].values ** 2).round(5))
print(pd.Series(np.linspace(0, 1, 5)).rolling(2).mean().tolist(), pd.cut(w, np.array([-9.0, 0, 9])).codes)
print(np.corrcoef(frame[["a", "c"]].to_numpy().T)[0, 1].round(6))

# What looks at types first: keys, masks, groups, values to set.
x, k = np.arange(12.0), np.arange(12) % 3
mask, back, table = x > 5, np.arange(12)[::-1].copy(), pd.DataFrame({"a": x, "b": np.sqrt(x)})
print(pd.unique(k), pd.factorize(k)[0], pd.util.hash_array(x).sum(), pd.api.extensions.take(x, back)[:3])
print(
    table.groupby(k).a.sum().tolist(),
    table.groupby([k, mask]).a.mean().tolist(),
    table.a.groupby(x // 5).size().tolist(),
)
print(
    pd.merge(table, table, left_on=k, right_on=k).shape, table.set_index(x).index[3], pd.Index(x).delete(np.arange(10))
)
print(pd.crosstab(k, mask), table.pivot_table(index=k, columns=mask, values="a", aggfunc="sum"))
print(table.loc[mask, "a"].sum(), table.iloc[back[:2]], table["b"][mask].round(3).tolist(), table.index[mask])
print(
    (table * np.ones((12, 2))).a.sum(), (np.ones((12, 2)) * table).b.sum().round(6), np.maximum(table.a, back).tolist()
)
print(
    pd.Timedelta("1D") * x[:2],
    np.arange(2) * pd.Timedelta("1D") + pd.Timestamp("2020"),
    pd.array(k, dtype="Int64")[mask],
)
print(table.apply(lambda row: np.array([1.0, row.a]), axis=1).head(2), pd.Series([x[:2], k[:2]]).to_json())
table.loc[mask, "a"] = -x[mask]
table.iloc[np.arange(3), 0] = np.ones(3)
table[np.array([True] * 12)] += 1
table.iloc[:2, :2] = np.zeros((2, 2))
series = pd.Series(k, dtype="Int64")
series[mask] = k[mask] * 2
print(table.round(4), series.tolist(), pd.cut(x, np.linspace(-1, 12, 4), labels=np.arange(3)))
# An ndarray is copied into a column, so writing to that leaves the array alone.
own = pd.Series(x)
own.iloc[0] = 100.0
frame = pd.DataFrame({"a": x})
frame.iloc[0, 0] = 100.0
print(x[0], own[0], frame.a[0])
# Warnings name the user's line, chained assignments are found, and `@name` in a query is the user's.
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    pd.to_datetime(["1/2/2020", "13/2/2020"], format="mixed", dayfirst=True)
    pd.to_datetime(np.array(["13/02/2020"]))
    frame["a"][mask] = 0.0
print([(one.category.__name__, one.filename == __file__, one.lineno) for one in told])
print(frame.query("a in @back and a > @x[3]").a.tolist(), frame.eval("a + @x").sum())
