"""A band of frequencies of a long signal."""

import numpy as np


def run():
    n = 1 << 22
    t = np.arange(n) / 44_100
    signal = np.sin(2 * np.pi * 440 * t) + 0.3 * np.sin(2 * np.pi * 3000 * t) + 0.1 * np.cos(t * t)
    spectrum = np.fft.rfft(signal)
    frequency = np.fft.rfftfreq(n, 1 / 44_100)
    gain = 1 / (1 + (frequency / 1000) ** 4)
    kept = np.fft.irfft(spectrum * gain, n)
    return np.sqrt((kept**2).mean())
