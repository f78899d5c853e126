"""``scipy.signal``: spectra of segments of signals, and SciPy code that combines filters and transforms.

One library call transforms all segments, and one adds them up again; SciPy's own code does the rest.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from scipy import signal

from .._core.handles import Handle
from ..functions import registry
from ..functions.registry import XP
from . import stand_in
from .operand_checks import only
from .python_functions import enter

_PADS: dict[str, dict[str, Any]] = {
    "zeros": {"mode": "constant"},
    "edge": {"mode": "edge"},
    "even": {"mode": "reflect", "reflect_type": "even"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
}


def _transformed(owner: Any, parts: Any, back: bool) -> Any:
    """Apply the transform of SciPy's object ``owner``, or its inverse (``back``), to each line of ``parts`` along the last axis."""
    rows = parts.reshape(-1, parts.shape[-1])
    made = owner._ifft_func(rows) if back else owner._fft_func(rows)
    return made.reshape(*parts.shape[:-1], made.shape[-1])


def stft_detrend(
    xp: XP, owner: Any, x: Any, detr: Any, p0: Any = None, p1: Any = None, *, k_offset: Any = 0, padding: Any = "zeros",
    axis: Any = -1,
) -> Any:  # fmt: skip
    only(isinstance(x, Handle), "the signal is no array")
    if owner.onesided_fft and x.dtype.kind == "c":
        raise ValueError(f"Complex-valued `x` not allowed for self.fft_mode={owner.fft_mode!r}'!")
    if isinstance(detr, str):
        detr = partial(signal.detrend, type=detr)
    elif not (detr is None or callable(detr)):
        raise ValueError(f"Parameter detr={detr!r} is not a str, function or None!")
    n = x.shape[axis]
    least = owner.m_num - owner.m_num_mid
    if n < least:
        which = f"len(x)={n}" if x.ndim == 1 else f"of {axis=} of {x.shape}"
        raise ValueError(f"{which} must be >= ceil(m_num/2) = {least}!")
    if padding not in _PADS:
        raise ValueError(f"Parameter padding={padding!r} not in {tuple(_PADS)}!")
    if x.ndim > 1:
        x = np.moveaxis(x, axis, -1)
    p0, p1 = owner.p_range(n, p0, p1)
    start = p0 * owner.hop - owner.m_num_mid + k_offset
    stop = start + (p1 - p0) * owner.hop + owner.m_num
    known = x[..., max(start, 0) : min(stop, n)]
    pads = [(0, 0)] * (x.ndim - 1) + [(-min(start, 0), max(stop - n, 0))]
    padded: Any = np.pad(known, pads, **_PADS[padding])
    parts = np.lib.stride_tricks.sliding_window_view(padded, owner.m_num, -1)[
        ..., : (p1 - p0) * owner.hop : owner.hop, :
    ]
    if detr is not None:
        each = [detr(parts[..., p, :]) for p in range(p1 - p0)]
        parts = np.stack(each, axis=-2)
    made = np.swapaxes(_transformed(owner, parts * owner.win.conj(), False), -1, -2).astype(complex)
    return np.moveaxis(made, -2, axis if axis >= 0 else axis - 1) if x.ndim > 1 else made


def istft(xp: XP, owner: Any, S: Any, k0: Any = 0, k1: Any = None, *, f_axis: Any = -2, t_axis: Any = -1) -> Any:
    only(isinstance(S, Handle), "the spectrum is no array")
    if f_axis == t_axis:
        raise ValueError(f"f_axis={f_axis!r} may not be equal to t_axis={t_axis!r}!")
    if S.shape[f_axis] != owner.f_pts:
        raise ValueError(f"S.shape[f_axis]={S.shape[f_axis]!r} must be equal to self.f_pts={owner.f_pts!r}")
    size, hop, middle = owner.m_num, owner.hop, owner.m_num_mid
    least = size - middle
    if S.shape[t_axis] < owner.p_num(least):
        raise ValueError(f"S.shape[t_axis]={S.shape[t_axis]!r} needs to have at least {owner.p_num(least)} slices")
    if t_axis != S.ndim - 1 or f_axis != S.ndim - 2:
        t_axis = S.ndim + t_axis if t_axis < 0 else t_axis
        f_axis = S.ndim + f_axis if f_axis < 0 else f_axis
        S = np.moveaxis(S, (f_axis, t_axis), (-2, -1))
    most = S.shape[-1] + owner.p_min
    last = (most - 1) * hop + size - middle
    k1 = last if k1 is None else k1
    if not owner.k_min <= k0 < k1 <= last:
        raise ValueError(f"(self.k_min={owner.k_min!r}) <= (k0={k0!r}) < (k1={k1!r}) <= (k_max={last!r}) is false!")
    if k1 - k0 < least:
        raise ValueError(f"({k1=}) - ({k0=}) = {k1 - k0} has to be at least the half the window length {least}!")
    first = k0 // hop + owner.p_min if k0 >= 0 else k0 // hop
    beyond = min(owner.p_max(k1), most)
    parts = np.swapaxes(S[..., first - owner.p_min : beyond - owner.p_min], -1, -2)
    parts = _transformed(owner, parts, True) * owner.dual_win
    x = _added(parts, hop)
    start = k0 - (first * hop - middle)
    have = x.shape[-1] - start
    x = x[..., start : start + k1 - k0]
    if have < k1 - k0:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, k1 - k0 - have)])
    x = x.astype(float if owner.onesided_fft else complex)
    return np.moveaxis(x, -1, f_axis if f_axis < x.ndim else t_axis) if x.ndim > 1 else x


def _added(parts: Any, hop: int) -> Any:
    """Return the sum of segments ``parts[..., k, :]``, each beginning ``hop`` elements after the one before."""
    *rest, _count, size = parts.shape
    pieces = -(-size // hop)
    none = [(0, 0)] * len(rest)
    parts = np.pad(parts, [*none, (0, 0), (0, pieces * hop - size)])
    total: Any = None
    for k in range(pieces):
        term = np.pad(parts[..., k * hop : (k + 1) * hop], [*none, (k, pieces - 1 - k), (0, 0)])
        total = term if total is None else total + term
    return total.reshape(*rest, math.prod(total.shape[-2:]))


def _methods(cls: type, **bodies: Any) -> None:
    """Register bodies for methods, or rebound SciPy code where there is none."""
    for name, body in bodies.items():
        func = vars(cls).get(name)
        if func is None or func not in registry.METHODS:
            continue
        if body is None:
            enter(func)
        else:
            why = "SciPy's own object takes part"
            registry.implements(func, mode="arrays", pure=False, returns="any", unverified=why)(body)


_methods(signal.ShortTimeFFT, stft=None, spectrogram=None, stft_detrend=stft_detrend, istft=istft)
_methods(signal.CZT, __call__=None)


def _state_space(system: Any) -> Any:
    """Return a linear system in its state-space form; a discrete-time system unchanged, for SciPy to refuse."""
    if isinstance(system, signal.dlti):
        return system
    return (system if isinstance(system, signal.lti) else signal.lti(*system)).to_ss()


_AGAIN = (
    "welch csd periodogram spectrogram coherence stft istft filtfilt sosfiltfilt decimate resample_poly"
    " lombscargle freqs freqs_zpk czt zoom_fft argrelextrema argrelmin argrelmax lsim hilbert hilbert2 envelope deconvolve wiener"
    " fftconvolve oaconvolve"
).split()
for _name in (*_AGAIN, "savgol_filter"):
    _func = stand_in(f"scipy.signal.{_name}")
    if _func is not None:
        # savgol_filter builds its weights by the standard, from a step
        enter(_func, numbers=_name == "savgol_filter", first=_state_space if _name == "lsim" else None)
