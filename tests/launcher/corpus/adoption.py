import numpy as np
from numpy.polynomial import chebyshev, legendre

nodes = chebyshev.chebpts1(8)
weights = legendre.leggauss(4)[1]
print(np.round(np.sort(nodes), 8), "%.10g" % np.sum(weights), "%.10g" % np.mean(np.abs(nodes)))
print(np.round(np.concatenate([nodes[:2], np.ones(2), weights]), 8), np.stack([weights, weights]).shape)
print("%.10g" % (nodes @ np.exp(nodes)), "%.10g" % np.linalg.norm(nodes), np.dot(weights, weights).round(10))
x = np.linspace(-1, 1, 8)
print(np.round(x * nodes, 8), np.round(nodes * x, 8), type(x * nodes) == type(nodes * x) == type(x))
print(np.take(nodes, np.array([0, 1])).round(8), nodes[np.array([0, 1])].round(8), np.where(nodes > 0, nodes, x).round(8))
nodes += np.ones(8)
nodes[1:3] = np.zeros(2)
print(nodes.round(8), np.argsort(nodes), np.searchsorted(np.arange(5), weights), max(nodes) == np.max(nodes))
print(np.einsum("i,i->", nodes, x).round(8), np.outer(weights, weights).round(8)[0], np.array(nodes).round(8)[0])
print(np.array_equal(nodes, nodes), np.allclose(nodes, nodes + 1e-12), np.unique([3, 1, 3]), np.histogram(nodes, 3)[0])

still = np.broadcast_to(1.0, 3)
print(still.flags.writeable, np.ones(3).flags.writeable)
