import numpy as np
import tensorflow as tf
def t(name, f):
    try:
        r = f()
        kind = type(r).__module__.split(".")[0], type(r).__name__
        print(name, *kind, r if isinstance(r, (str, tuple)) else np.round(np.asarray(r), 9).tolist())
    except Exception as error:
        print(name, type(error).__name__)
x = np.arange(4.0)
C = np.array([1.0, 2.0, 3.0, 4.0])
@tf.function
def a(v): return tf.sin(v) + C
@tf.function
def b(v): return v * np.pi + np.arange(4)
@tf.function
def c(v): return tf.reduce_sum(v) * np.sqrt(2.0)
t("a", lambda: a(x))
t("a tf", lambda: a(tf.constant(x)))
t("b", lambda: b(x))
t("b tf", lambda: b(tf.constant(x)))
t("c", lambda: c(x))
t("const", lambda: tf.constant(x))
t("conv", lambda: tf.convert_to_tensor(x))
t("add", lambda: tf.constant(x) + x)
t("radd", lambda: x + tf.constant(x))
t("np", lambda: np.sin(tf.constant(x)))
t("var", lambda: tf.Variable(x) * 2)
t("ds", lambda: next(iter(tf.data.Dataset.from_tensor_slices(x))))
t("ds2", lambda: [float(v) for v in tf.data.Dataset.from_tensor_slices((x, x)).map(lambda p, q: p + q)])
t("stack", lambda: tf.stack([x, x]))
t("nest", lambda: str(tf.nest.flatten({"a": x})[0]))
t("numpy_function", lambda: tf.numpy_function(lambda v: np.sin(v), [x], tf.float64))
t("py_function", lambda: tf.py_function(lambda v: np.sin(v), [x], tf.float64))
t("jitc", lambda: tf.function(lambda v: v + C, jit_compile=True)(x))
with tf.GradientTape() as tape:
    w = tf.Variable(2.0, dtype=tf.float64); l = tf.reduce_mean((w * x - C) ** 2)
t("tape", lambda: tape.gradient(l, w))
t("sig", lambda: tf.function(lambda v: v * 2, input_signature=[tf.TensorSpec([None], tf.float64)])(x))
