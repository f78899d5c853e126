import numpy as np

y, x = np.mgrid[0:3, 0:2]
print(x.shape, (x + 10 * y).tolist(), np.mgrid[0:1:5j])
a, b = np.ogrid[0:3, 0:2]
print(a.shape, b.shape, (a * b).tolist())
one, two = np.arange(3), np.array([7.5, 8.5, 9.5])
print(np.r_[one, two], np.r_[1:4, 0, two], np.r_[two, 1], np.r_[0.0, one], np.r_["0,2", one, one])
print(np.c_[one, two].tolist(), np.c_[np.ones(3), np.arange(6).reshape(3, 2)].tolist(), np.c_[one].shape)
print(np.r_[one, two].dtype, np.r_[one, True].dtype, np.r_[np.float32(1), np.ones(2, np.float32)].dtype)
print(two[np.s_[1:]], two[np.index_exp[::2]], np.s_[1:3])
print(np.vander(one, 3).tolist(), np.tri(3).sum(), np.diag([1, 2]).tolist(), np.triu_indices(3)[0].tolist())
print(np.ix_([0, 2], [1])[0].tolist(), np.indices((2, 2)).sum(), [i for i in np.ndindex(2, 2)])
