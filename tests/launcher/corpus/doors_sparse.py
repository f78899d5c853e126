import numpy as np
from scipy import sparse
from scipy.sparse import linalg

z = np.arange(12.0).reshape(3, 4)
x, rows = z[1] + 1, np.array([0, 2])
for kind in (sparse.csr_matrix, sparse.csr_array):
    s = kind(z)
    print(s + z, z + s, s @ x, x[:3] @ s, s.dot(z.T), s.multiply(x).toarray(), sep="\n")
    print(s[rows].toarray(), s[rows, rows + 1], s[:, np.array([3, 0])].sum(), s[z[:, 0] > 0].toarray(), s.maximum(z))
    print((s > x[2]).toarray().sum(), sparse.vstack([s, kind(z)]).sum(), s.toarray(out=np.zeros((3, 4))).sum())
written = sparse.lil_matrix(z)
written[0, :] = x
written[rows, rows] = np.array([-1.0, -2.0])
print(written.toarray(), sparse.coo_matrix((x[:2], (rows, rows))).toarray(), sparse.diags([x, x[:3]], [0, 1]).toarray())
operator = linalg.aslinearoperator(z)
print(operator @ x, linalg.spsolve(sparse.csc_matrix(np.diag(x)), x), linalg.cg(sparse.eye(3).tocsr() * 2, x[:3])[0])

for way in (lambda m, out: m.toarray(out=out), lambda m, out: m.toarray(None, out), lambda m, out: m.todense(out=out)):
    out = np.zeros((3, 3))
    before = out + 1
    made = way(sparse.eye_array(3).tocsr() * 2, out)
    print(made is out, out.tolist(), before.tolist(), (out + 1).tolist())

for kind in (sparse.dok_matrix, sparse.dok_array):  # classes derived from dict
    d = kind((3, 4))
    d[1, 1] = x[0]
    d[0, 3] = z[2, 3]
    print(d.toarray(), d.nnz, sorted(d.items()), d @ x, d.T.toarray(), kind(z).sum(), d.get((0, 0)), d[1, 1])
