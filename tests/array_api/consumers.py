"""Run by test_consumers in a process of its own: libraries that speak the array-API standard, on every backend.

``python consumers.py`` prints, as JSON, backend -> library -> case -> what is wrong. A case is right if it gives NumPy's values,
in an `Array` wherever the library gives an ndarray for ndarrays. ``python consumers.py N SEED`` takes on JAX, which compiles
programs for nearly every case, one case of N of each library, drawn by the seed, and JAX compiles quickly: see tests/compiled.py.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported

import json
import math
import random
import sys
import warnings
from pathlib import Path

import array_api_extra as xpx
import einops
import einops.array_api
import numpy as np
import xarray as xr
from scipy import fft, integrate, linalg, ndimage, signal, special, stats
from scipy.cluster import vq
from sklearn import config_context, metrics as m
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.preprocessing import (
    Binarizer,
    KernelCenterer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

import arraydispatch as ad

rng = np.random.default_rng(0)

# -- scikit-learn, array_api_dispatch=True -------------------------------------------------------------------------------

X = rng.normal(size=(40, 5))
y = (X[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(np.int64)
t = X @ np.arange(5.0) + 0.1 * rng.normal(size=40)


def there_and_back(model, X):
    return model.inverse_transform(model.fit(X).transform(X))


SKLEARN = {
    "pca_full": lambda X, y, t: PCA(3, svd_solver="full").fit_transform(X),
    "pca_cov": lambda X, y, t: PCA(3, svd_solver="covariance_eigh").fit_transform(X),
    "pca_ran": lambda X, y, t: PCA(
        3, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0
    ).fit_transform(X),
    "pca_attr": lambda X, y, t: PCA(3, svd_solver="full").fit(X).explained_variance_ratio_,
    "pca_inv": lambda X, y, t: there_and_back(PCA(3, svd_solver="full", whiten=True), X),
    "pca_cov_": lambda X, y, t: PCA(3, svd_solver="full").fit(X).get_covariance(),
    "pca_score": lambda X, y, t: PCA(3, svd_solver="full").fit(X).score_samples(X),
    "pca_mle": lambda X, y, t: PCA("mle", svd_solver="full").fit_transform(X),
    "ridge": lambda X, y, t: Ridge(alpha=0.5, solver="svd").fit(X, t).predict(X),
    "ridge_coef": lambda X, y, t: Ridge(alpha=0.5, solver="svd").fit(X, t).coef_,
    "lda": lambda X, y, t: LinearDiscriminantAnalysis(solver="svd").fit(X, y).decision_function(X),
    "lda_tr": lambda X, y, t: abs(LinearDiscriminantAnalysis(solver="svd").fit(X, y).transform(X)),
    "lda_pred": lambda X, y, t: LinearDiscriminantAnalysis(solver="svd").fit(X, y).predict(X),
    "lda_proba": lambda X, y, t: LinearDiscriminantAnalysis(solver="svd").fit(X, y).predict_proba(X),
    "std": lambda X, y, t: StandardScaler().fit_transform(X),
    "std_inv": lambda X, y, t: there_and_back(StandardScaler(), X),
    "minmax": lambda X, y, t: MinMaxScaler().fit_transform(X),
    "maxabs": lambda X, y, t: MaxAbsScaler().fit_transform(X),
    "norm": lambda X, y, t: Normalizer().fit_transform(X),
    "norm1": lambda X, y, t: Normalizer("l1").fit_transform(X),
    "poly": lambda X, y, t: PolynomialFeatures(2).fit_transform(X),
    "binar": lambda X, y, t: Binarizer().fit_transform(X),
    "kernelc": lambda X, y, t: KernelCenterer().fit_transform(X @ X.T),
    "labelenc": lambda X, y, t: LabelEncoder().fit_transform(y),
    "r2": lambda X, y, t: m.r2_score(t, X[:, 0]),
    "mse": lambda X, y, t: m.mean_squared_error(t, X[:, 0]),
    "rmse": lambda X, y, t: m.root_mean_squared_error(t, X[:, 0]),
    "mae": lambda X, y, t: m.mean_absolute_error(t, X[:, 0]),
    "medae": lambda X, y, t: m.median_absolute_error(t, X[:, 0]),
    "maxe": lambda X, y, t: m.max_error(t, X[:, 0]),
    "mape": lambda X, y, t: m.mean_absolute_percentage_error(t, X[:, 0]),
    "evs": lambda X, y, t: m.explained_variance_score(t, X[:, 0]),
    "msle": lambda X, y, t: m.mean_squared_log_error(abs(t), abs(X[:, 0])),
    "pinball": lambda X, y, t: m.mean_pinball_loss(t, X[:, 0]),
    "gamma": lambda X, y, t: m.mean_gamma_deviance(abs(t) + 1, abs(X[:, 0]) + 1),
    "poisson": lambda X, y, t: m.mean_poisson_deviance(abs(t) + 1, abs(X[:, 0]) + 1),
    "tweedie": lambda X, y, t: m.mean_tweedie_deviance(abs(t) + 1, abs(X[:, 0]) + 1),
    "d2": lambda X, y, t: m.d2_tweedie_score(t, X[:, 0]),
    "acc": lambda X, y, t: m.accuracy_score(y, 1 - y),
    "zero_one": lambda X, y, t: m.zero_one_loss(y, 1 - y),
    "f1": lambda X, y, t: m.f1_score(y, y),
    "prec": lambda X, y, t: m.precision_score(y, 1 - y, average="macro", zero_division=0),
    "recall": lambda X, y, t: m.recall_score(y, y, average=None),
    "jaccard": lambda X, y, t: m.jaccard_score(y, y),
    "conf": lambda X, y, t: m.confusion_matrix(y, y),
    "hamming": lambda X, y, t: m.hamming_loss(y, 1 - y),
    "balanced": lambda X, y, t: m.balanced_accuracy_score(y, y),
    "kappa": lambda X, y, t: m.cohen_kappa_score(y, y),
    "brier": lambda X, y, t: m.brier_score_loss(y, 1 / (1 + np.exp(-X[:, 0]))),
    "logloss": lambda X, y, t: m.log_loss(y, 1 / (1 + np.exp(-X[:, 0]))),
    "auc": lambda X, y, t: m.roc_auc_score(y, X[:, 0]),
    "roc": lambda X, y, t: m.roc_curve(y, X[:, 0])[0],
    "prc": lambda X, y, t: m.precision_recall_curve(y, X[:, 0])[0],
    "ap": lambda X, y, t: m.average_precision_score(y, X[:, 0]),
    "eucl": lambda X, y, t: m.pairwise.euclidean_distances(X, X[:3] + 1),
    "cos": lambda X, y, t: m.pairwise.cosine_similarity(X),
    "rbf": lambda X, y, t: m.pairwise.rbf_kernel(X),
    "lin": lambda X, y, t: m.pairwise.linear_kernel(X),
    "pol": lambda X, y, t: m.pairwise.polynomial_kernel(X),
    "sig": lambda X, y, t: m.pairwise.sigmoid_kernel(X),
    "chi2": lambda X, y, t: m.pairwise.additive_chi2_kernel(abs(X)),
    "paired": lambda X, y, t: m.pairwise.paired_euclidean_distances(X, X),
    "dcg": lambda X, y, t: m.ndcg_score(abs(X), abs(X)),
}

# -- SciPy, SCIPY_ARRAY_API=1: c makes an array of the backend ---------------------------------------------------------

a, b = rng.normal(size=30), rng.normal(size=30) + 0.2
M = rng.normal(size=(12, 3))
P = rng.uniform(0.1, 3, size=20)
cnt = rng.integers(1, 20, size=(3, 4)).astype(float)

SCIPY = {
    "zscore": lambda c: stats.zscore(c(M)),
    "skew": lambda c: stats.skew(c(a)),
    "kurtosis": lambda c: stats.kurtosis(c(M), axis=0),
    "kurtosis_b": lambda c: stats.kurtosis(c(a), bias=False),
    "moment": lambda c: stats.moment(c(a), 3),
    "describe": lambda c: stats.describe(c(a)).variance,
    "ttest_ind": lambda c: stats.ttest_ind(c(a), c(b)).pvalue,
    "ttest_ind_welch": lambda c: stats.ttest_ind(c(a), c(b), equal_var=False).statistic,
    "ttest_1samp": lambda c: stats.ttest_1samp(c(a), 0.1).pvalue,
    "ttest_rel": lambda c: stats.ttest_rel(c(a), c(b)).statistic,
    "pearsonr": lambda c: stats.pearsonr(c(a), c(b)).statistic,
    "pearsonr_p": lambda c: stats.pearsonr(c(a), c(b)).pvalue,
    "gmean": lambda c: stats.gmean(c(P)),
    "hmean": lambda c: stats.hmean(c(P)),
    "pmean": lambda c: stats.pmean(c(P), 2),
    "tmean": lambda c: stats.tmean(c(a), (-1, 1)),
    "tvar": lambda c: stats.tvar(c(a), (-1, 1)),
    "tstd": lambda c: stats.tstd(c(a)),
    "tmin": lambda c: stats.tmin(c(a), -1),
    "tsem": lambda c: stats.tsem(c(a)),
    "sem": lambda c: stats.sem(c(a)),
    "variation": lambda c: stats.variation(c(P)),
    "entropy": lambda c: stats.entropy(c(P)),
    "entropy2": lambda c: stats.entropy(c(P), c(P[::-1].copy())),
    "normaltest": lambda c: stats.normaltest(c(a)).pvalue,
    "skewtest": lambda c: stats.skewtest(c(a)).statistic,
    "kurtosistest": lambda c: stats.kurtosistest(c(a)).statistic,
    "jarque_bera": lambda c: stats.jarque_bera(c(a)).pvalue,
    "chisquare": lambda c: stats.chisquare(c(cnt[0])).pvalue,
    "power_div": lambda c: stats.power_divergence(c(cnt[0]), lambda_=0.5).statistic,
    "bartlett": lambda c: stats.bartlett(c(a), c(b)).statistic,
    "combine_p": lambda c: stats.combine_pvalues(c(np.array([0.1, 0.2, 0.3]))).pvalue,
    "circmean": lambda c: stats.circmean(c(P)),
    "circvar": lambda c: stats.circvar(c(P)),
    "circstd": lambda c: stats.circstd(c(P)),
    "directional": lambda c: stats.directional_stats(c(M)).mean_direction,
    "zmap": lambda c: stats.zmap(c(a), c(b)),
    "gzscore": lambda c: stats.gzscore(c(P)),
    "rankdata": lambda c: stats.rankdata(c(a)),
    "mannwhitney": lambda c: stats.mannwhitneyu(c(a), c(b)).pvalue,
    "wilcoxon": lambda c: stats.wilcoxon(c(a), c(b)).pvalue,
    "kruskal": lambda c: stats.kruskal(c(a), c(b)).statistic,
    "f_oneway": lambda c: stats.f_oneway(c(a), c(b)).pvalue,
    "lmoment": lambda c: stats.lmoment(c(a)),
    "trim_mean": lambda c: stats.trim_mean(c(a), 0.1),
    "quantile": lambda c: stats.quantile(c(a), c(np.array([0.25, 0.5]))),
    "iqr": lambda c: stats.iqr(c(a)),
    "boxcox_llf": lambda c: stats.boxcox_llf(0.5, c(P)),
    "differential_entropy": lambda c: stats.differential_entropy(c(a)),
    "fdr": lambda c: stats.false_discovery_control(c(np.array([0.1, 0.02, 0.3]))),
    "hilbert": lambda c: signal.hilbert(c(a)),
    "fftconvolve": lambda c: signal.fftconvolve(c(a), c(b)),
    "oaconvolve": lambda c: signal.oaconvolve(c(a), c(b)),
    "convolve": lambda c: signal.convolve(c(a), c(b)),
    "correlate": lambda c: signal.correlate(c(a), c(b)),
    "resample": lambda c: signal.resample(c(a), 20),
    "detrend": lambda c: signal.detrend(c(a)),
    "sosfilt": lambda c: signal.sosfilt(c(signal.butter(3, 0.3, output="sos")), c(a)),
    "sosfiltfilt": lambda c: signal.sosfiltfilt(c(signal.butter(3, 0.3, output="sos")), c(a)),
    "lfilter": lambda c: signal.lfilter(c(np.array([1.0, 0.5])), c(np.array([1.0, -0.2])), c(a)),
    "filtfilt": lambda c: signal.filtfilt(c(np.array([1.0, 0.5])), c(np.array([1.0, -0.2])), c(a)),
    "savgol": lambda c: signal.savgol_filter(c(a), 5, 2),
    "freqz": lambda c: signal.freqz(c(np.array([1.0, 0.5])), c(np.array([1.0, -0.2])))[1],
    "medfilt": lambda c: signal.medfilt(c(a), 3),
    "upfirdn": lambda c: signal.upfirdn(c(np.array([1.0, 2.0, 1.0])), c(a), 2),
    "peak": lambda c: signal.vectorstrength(c(P), 2.0)[0],
    **{
        n: (lambda c, n=n: getattr(special, n)(c(P)))
        for n in "erf erfc i0 i0e i1 i1e gammaln log_ndtr ndtr ndtri expit j0 entr digamma gamma".split()
    },
    "logit": lambda c: special.logit(c(P / 4)),
    "xlogy": lambda c: special.xlogy(c(P), c(P)),
    "rel_entr": lambda c: special.rel_entr(c(P), c(P) + 1),
    "gammainc": lambda c: special.gammainc(c(P), c(P)),
    "betainc": lambda c: special.betainc(c(P), c(P), c(P / 4)),
    "stdtr": lambda c: special.stdtr(c(P), c(P)),
    "chdtrc": lambda c: special.chdtrc(c(P), c(P)),
    "logsumexp": lambda c: special.logsumexp(c(M), axis=0),
    "softmax": lambda c: special.softmax(c(M), axis=1),
    "log_softmax": lambda c: special.log_softmax(c(M), axis=1),
    **{
        "fft_" + n: (lambda c, n=n: getattr(fft, n)(c(a)))
        for n in "fft ifft rfft hfft ihfft fftshift dct idct dst".split()
    },
    "fft2": lambda c: fft.fft2(c(M)),
    "rfftn": lambda c: fft.rfftn(c(M)),
    "fftn": lambda c: fft.fftn(c(M), s=(8, 4)),
    "irfft": lambda c: fft.irfft(c(a.astype(complex))),
    "dctn": lambda c: fft.dctn(c(M)),
    "fht": lambda c: fft.fht(c(P), 0.1, 0.5),
    "gaussian_filter": lambda c: ndimage.gaussian_filter(c(M), 1.0),
    "vq_whiten": lambda c: vq.whiten(c(M)),
    "vq_vq": lambda c: vq.vq(c(M), c(M[:3].copy()))[0],
    "kmeans2": lambda c: vq.kmeans2(c(M), c(M[:3].copy()), minit="matrix")[0],
    "trapezoid": lambda c: integrate.trapezoid(c(a)),
    "cumtrap": lambda c: integrate.cumulative_trapezoid(c(a)),
    "block_diag": lambda c: linalg.block_diag(c(M), c(M)),
    "fiedler": lambda c: linalg.fiedler(c(a)),
    "procrustes": lambda c: linalg.orthogonal_procrustes(c(M), c(M[::-1].copy())),
}

# -- array-api-extra -----------------------------------------------------------------------------------------------------

EXTRA = {
    "at.set": lambda c: xpx.at(c(a))[1:3].set(7.0),
    "at.add": lambda c: xpx.at(c(a), 0).add(1.0),
    "at.multiply": lambda c: xpx.at(c(a))[c(a) > 0].multiply(2.0),
    "atleast_nd": lambda c: xpx.atleast_nd(c(a), ndim=3),
    "cov": lambda c: xpx.cov(c(M.T)),
    "create_diagonal": lambda c: xpx.create_diagonal(c(a), offset=1),
    "expand_dims": lambda c: xpx.expand_dims(c(a), axis=(0, 2)),
    "kron": lambda c: xpx.kron(c(M), c(M)),
    "nunique": lambda c: xpx.nunique(c(np.array([1, 2, 2, 3]))),
    "pad": lambda c: xpx.pad(c(a), 2, constant_values=1.0),
    "setdiff1d": lambda c: xpx.setdiff1d(c(np.arange(5)), c(np.array([1, 3]))),
    "union1d": lambda c: xpx.union1d(c(np.arange(3)), c(np.arange(2, 5))),
    "isin": lambda c: xpx.isin(c(np.arange(4)), c(np.array([1, 2]))),
    "sinc": lambda c: xpx.sinc(c(a)),
    "angle": lambda c: xpx.angle(c(a + 1j)),
    "apply_where": lambda c: xpx.apply_where(c(a) > 0, (c(a),), lambda x: x * 2, lambda x: -x),
    "isclose": lambda c: xpx.isclose(c(a), c(a) + 1e-12),
    "one_hot": lambda c: xpx.one_hot(c(np.array([0, 2, 1])), 3),
    "nan_to_num": lambda c: xpx.nan_to_num(c(np.array([1.0, np.nan, np.inf]))),
    "nanmax": lambda c: xpx.nanmax(c(np.array([1.0, np.nan, 3.0]))),
    "nanmean": lambda c: xpx.nanmean(c(np.array([1.0, np.nan, 3.0]))),
    "searchsorted": lambda c: xpx.searchsorted(c(np.sort(a)), c(b)),
    "partition": lambda c: xpx.partition(c(a), 2)[..., 2:3],
    "deg2rad": lambda c: xpx.deg2rad(c(a)),
}

# -- einops and xarray ---------------------------------------------------------------------------------------------------

Z = rng.normal(size=(2, 3, 4))
EINOPS = {
    "rearrange": lambda e, z: e.rearrange(z, "a b c -> c (a b)"),
    "reduce": lambda e, z: e.reduce(z, "a (b1 b2) c -> a b1 c", "max", b1=3),
    "mean": lambda e, z: e.reduce(z, "a b c -> b", "mean"),
    "repeat": lambda e, z: e.repeat(z, "a b c -> a b c 2"),
    "pack": lambda e, z: e.pack([z, z[:, :1, :]], "a * c")[0],
}
XARRAY = {
    "mean": lambda d: d.mean("y"), "sum": lambda d: d.sum(("x", "y")) + float(d.sum()), "std": lambda d: d.std("z"), "arithmetic": lambda d: (d * 2 + 1) / d.max(),
    "sel": lambda d: d.sel(x=20), "isel": lambda d: d.isel(y=slice(0, 2), z=0), "where": lambda d: d.where(d > 0),
    "transpose": lambda d: d.transpose("z", "x", "y"), "ufunc": np.exp, "concat": lambda d: xr.concat([d, d], "x"),
    "cumsum": lambda d: d.cumsum("y"), "dot": lambda d: xr.dot(d, d, dim="x"), "median": lambda d: d.median("y"),
    "argmax": lambda d: d.argmax("y"), "clip": lambda d: d.clip(0, 1), "stack": lambda d: d.stack(k=("x", "y")),
    "diff": lambda d: d.diff("z"), "shift": lambda d: d.shift(y=1), "roll": lambda d: d.roll(y=1), "round": lambda d: d.round(1),
    "fillna": lambda d: d.fillna(0), "isnull": lambda d: d.isnull(), "astype": lambda d: d.astype("float32"),
    "quantile": lambda d: d.quantile(0.5, "y"), "groupby": lambda d: d.groupby("x").mean(), "copy": lambda d: d.copy(),
}  # fmt: skip


def labelled(values):
    return xr.DataArray(values, dims=("x", "y", "z"), coords={"x": [10, 20]})


# -- comparing -----------------------------------------------------------------------------------------------------------


def compare(run, ours, numpys, scalars):
    """What is wrong with ``run(*ours)`` beside ``run(*numpys)``, or None. ``scalars``: the library may give numbers."""
    wanted = run(*numpys)
    try:
        found = run(*ours)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(wanted, xr.DataArray):
        found, wanted = found.data, wanted.data
    for one, other in zip(*[v if isinstance(v, tuple) else (v,) for v in (found, wanted)]):
        if (
            not isinstance(one, ad.Array)
            and isinstance(other, np.ndarray | np.generic)
            and not (scalars and np.isscalar(other))
        ):
            return f"gives {type(one).__name__}"
        one = np.asarray(one)
        if one.shape != np.shape(other) or not np.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True):
            return f"{one} is not {other}"
    return None


def wrong_on(backend, one_of, seed):
    """Library -> case -> what is wrong; and how many cases there were."""

    def array(x):
        return ad.asarray(x.copy(), backend=backend)

    cases = {}
    for name, run in SKLEARN.items():
        cases["sklearn", name] = (run, (array(X), array(y), array(t)), (X, y, t))
    for library, table in (("scipy", SCIPY), ("array-api-extra", EXTRA)):
        for name, run in table.items():
            cases[library, name] = (run, (array,), (np.copy,))
    for name, run in EINOPS.items():
        cases["einops", name] = (run, (einops.array_api, array(Z)), (einops, Z))
    for name, run in XARRAY.items():
        for made, values in (("", array(Z)), (" of the namespace", ad.namespace(backend).asarray(Z))):
            cases["xarray", name + made] = (run, (labelled(values),), (labelled(Z),))
    wrong = {library: {"cases": 0} for library, _ in cases}
    for library in wrong:
        of = [case for case in cases if case[0] == library]
        for case in random.Random(f"{seed} {library}").sample(of, len(of) - math.ceil(len(of) / one_of)):
            del cases[case]
    with config_context(array_api_dispatch=True):
        for (library, name), (run, ours, numpys) in cases.items():
            wrong[library]["cases"] += 1
            problem = compare(run, ours, numpys, scalars=library == "sklearn")
            if problem is not None:
                wrong[library][name] = problem
    return wrong


def main(one_of=1, seed=0):
    """Print what is wrong on each library; where one_of so many is taken of JAX's cases, on one that the seed decides."""
    backends = [name for name in ad.available_backends() if name != "numpy"]
    if one_of > 1:
        backends = [random.Random(seed).choice(backends)]
    if one_of > 1 and "jax" in backends:
        sys.path.append(str(Path(__file__).parents[2]))
        from tests import compiled

        compiled.quickly(True)
    print(json.dumps({name: wrong_on(name, one_of if name == "jax" else 1, seed) for name in backends}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    main(*map(int, sys.argv[1:]))
