import numpy as np

print(np.mean([1, 2, 4]).round(8), np.sort([3, 1, 2]), np.vstack([[1, 2], [3, 4]]), np.tile([1, 2], 2), np.repeat(0, 3))
a, b = np.arange(3.0), np.ones(3)
print(np.array([a, b]), np.array([a.sum(), b.sum()]), np.mean([a, b], axis=0), np.max([a, b]), np.stack((a, b), axis=1))
print(np.dot([1, 2], [3, 4]), np.outer([1, 2], b), np.sqrt([1.0, 4.0]), np.add([a, b], 1), np.atleast_2d([a, b]).shape)
print([isinstance(r, np.ndarray) for r in (np.sort([2, 1]), np.sqrt([1.0]), np.split(a, 3)[0], np.nonzero(a)[0], np.where(a)[0])])
print(np.linalg.norm([3.0, 4.0]), np.select([a > 1, a > 0], [a, -a]), np.choose([0, 1, 0], [a, b]), np.block([[a, b]]))
print(np.ravel_multi_index((np.array([0, 1]), np.array([1, 1])), (2, 3)), np.unravel_index(4, (2, 3)), np.lexsort((b, -a)))
print(np.array([[1, 2], [3, 4]]).tolist(), np.array(3.5).item(), np.asarray((1, 2)).shape, np.array([]).size, np.array([True]).dtype)
