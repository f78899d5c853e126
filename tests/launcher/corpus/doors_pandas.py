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
