import os
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 2 * np.pi, 40)
figure, axes = plt.subplots(2, 2)
(line,) = axes[0, 0].plot(x, np.sin(x), label="sin")
counts, edges, _ = axes[0, 1].hist(np.random.default_rng(0).normal(size=200), bins=np.linspace(-3, 3, 7))
image = axes[1, 0].imshow(np.outer(np.sin(x), np.cos(x)), extent=(0, 1, 0, 1))
axes[1, 1].scatter(x, np.cos(x), c=x, s=np.full(40, 5.0))
axes[1, 1].errorbar(x[::8], x[::8] ** 2, yerr=np.ones(5))
axes[0, 0].set_xlim(x.min(), x.max())
axes[0, 0].legend()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "figure.png")
    figure.savefig(path, dpi=40)
    print(os.path.getsize(path) > 2000, plt.imread(path).shape)
print(np.round(np.abs(line.get_ydata()).sum(), 9), counts.tolist(), np.round(np.asarray(image.get_array()).max(), 6))
