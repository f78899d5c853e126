"""Trend, moving average and outliers of a signal."""

import numpy as np


def run():
    t = np.arange(5_000_000) / 1000.0
    signal = np.sin(2 * np.pi * 1.3 * t) + 0.5 * np.sin(2 * np.pi * 7.7 * t + 1) + 0.01 * t
    trend = np.polyfit(t[::1000], signal[::1000], 1)
    flat = signal - (trend[0] * t + trend[1])
    window = 50
    total = np.cumsum(np.concatenate((np.zeros(1), flat)))
    smooth = (total[window:] - total[:-window]) / window
    rest = flat[window - 1 :] - smooth
    score = (rest - rest.mean()) / rest.std()
    return (np.abs(score) > 1.5).sum() + np.tanh(score).mean()
