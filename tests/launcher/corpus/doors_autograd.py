import autograd.numpy as anp
import numpy as np
from autograd import elementwise_grad, grad, hessian, jacobian, value_and_grad

slope = grad(lambda x: anp.sum(anp.tanh(x) ** 2))(np.arange(3.0))
print(np.round(slope, 6), type(slope).__name__, isinstance(slope, np.ndarray))
print(np.round(grad(lambda x: anp.sum(anp.abs(anp.fft.fft(x))))(np.arange(4.0)), 6))
print(np.round(jacobian(lambda x: x**2 * anp.sin(x))(np.arange(3.0)), 6))
print(hessian(lambda x: anp.sum(x**3))(np.arange(3.0)))

rng = np.random.default_rng(0)
weights, x, y = rng.normal(size=(4, 3)), rng.normal(size=(5, 4)), rng.normal(size=(5, 3))


def loss(weights):
    hidden = anp.log1p(anp.exp(anp.dot(x, weights)))
    return anp.mean((hidden - y) ** 2) + 0.1 * anp.sum(weights[1:] ** 2)


before = float(loss(weights))
for _ in range(30):
    weights = weights - 0.2 * grad(loss)(weights)
print(np.round(weights, 4), float(loss(weights)) < before)
print(grad(lambda p: anp.sum(p["a"] * p["b"][0]))({"a": np.ones(3), "b": [np.arange(3.0), 1.0]})["a"])
print(value_and_grad(lambda x: x**2)(3.0), np.round(elementwise_grad(anp.sin)(np.linspace(0, 1, 3)), 6))
print(grad(lambda x: anp.sum(anp.concatenate([x, x * 2]) * np.arange(6.0)))(np.ones(3)))
print(grad(lambda x: anp.sum(np.arange(3.0) * x))(np.ones(3)), grad(lambda x: anp.sum(anp.where(x > 1, x, 0.0 * x)))(np.arange(3.0)))
try:
    grad(lambda x: x)("text")
except TypeError as error:
    print(error)
