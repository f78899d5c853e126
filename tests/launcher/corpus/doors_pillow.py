import numpy as np
from PIL import Image

grey = (np.arange(80 * 60) % 251).astype(np.uint8).reshape(80, 60)
colours = np.stack([grey, grey[::-1], 250 - grey], axis=-1)
for values in (grey, grey[::2, ::-3], grey.T, colours, np.float32(grey) / 2, grey > 100):
    image = Image.fromarray(values)
    print(image.size, image.mode, image.getpixel((3, 4)), np.asarray(image).sum(), np.array(image.rotate(90)).shape)
small = Image.fromarray(colours).resize((20, 10))
print(np.asarray(small, dtype=float).mean().round(6), Image.frombuffer("L", (60, 80), grey, "raw", "L", 0, 1).size)
print(np.asarray(Image.fromarray(grey).point(np.arange(256)[::-1])).sum())

# The memory that `__array_interface__` tells of: found by name, as by ctypeslib, and kept by what it answers.
flipped = np.arange(12.0).reshape(3, 4)[::-1, ::2] * 1.0
for values in (flipped, grey[:3, ::7], np.array(2.5), np.zeros((0, 3)), colours.T[0] > 60):
    told = values.__array_interface__
    holder = type("Holder", (), {"__array_interface__": told})()
    print(told["shape"], told["typestr"], np.array_equal(np.asarray(holder), values))
