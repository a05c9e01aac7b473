"""Time one training step of dense networks in JAX, on the CPU or with JAX_PLATFORMS=cuda on a card.

The whole epoch is one jitted lax.scan: batches are gathered by a permutation
made on the device, parameters and Adam state are donated.
Prints `peer network batch microseconds_per_step`, the median over epochs.
"""
import os
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import statistics
import time
from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_default_matmul_precision", "highest")

NETWORKS = [  # layer sizes, batch, batches in an epoch
    ((784, 128, 128, 10), 64, 100),
    ((784, 512, 512, 10), 256, 40),
]
if os.environ["JAX_PLATFORMS"] != "cpu":
    NETWORKS.append(((784, 2048, 2048, 10), 1024, 10))
LR, B1, B2, EPS = 1e-3, 0.9, 0.999, 1e-8
EPOCHS = 9  # timed, after one warm-up epoch


def init(key, sizes):
    params = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        key, sub = jax.random.split(key)
        bound = (6.0 / inputs) ** 0.5
        w = jax.random.uniform(sub, (outputs, inputs), jnp.float32, -bound, bound)
        params.append((w, jnp.zeros(outputs, jnp.float32)))
    return params


def loss(params, x, y):
    """Mean softmax cross-entropy; y holds class indices."""
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w.T + b)
    w, b = params[-1]
    logp = jax.nn.log_softmax(x @ w.T + b)
    return -jnp.mean(jnp.take_along_axis(logp, y[:, None], axis=1))


def adam(params, grads, m, v, t):
    rate = LR * jnp.sqrt(1 - B2**t) / (1 - B1**t)
    m = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, m, grads)
    v = jax.tree.map(lambda v, g: B2 * v + (1 - B2) * g * g, v, grads)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + EPS), params, m, v)
    return params, m, v


@partial(jax.jit, static_argnames="batch", donate_argnums=0)
def epoch(state, key, x, y, batch):
    order = jax.random.permutation(key, x.shape[0]).reshape(-1, batch)

    def step(state, rows):
        params, m, v, t = state
        t = t + 1
        value, grads = jax.value_and_grad(loss)(params, x[rows], y[rows])
        params, m, v = adam(params, grads, m, v, t)
        return (params, m, v, t), value

    return jax.lax.scan(step, state, order)


def measure(sizes, batch, batches):
    key = jax.random.PRNGKey(0)
    kx, ky, kp, key = jax.random.split(key, 4)
    x = jax.random.normal(kx, (batch * batches, sizes[0]), jnp.float32)
    y = jax.random.randint(ky, (batch * batches,), 0, sizes[-1])
    params = init(kp, sizes)
    zeros = lambda: jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros(), zeros(), jnp.float32(0))
    times = []
    for _ in range(EPOCHS + 1):
        key, sub = jax.random.split(key)
        jax.block_until_ready((state, sub))
        start = time.perf_counter()
        state, losses = epoch(state, sub, x, y, batch)
        jax.block_until_ready((state, losses))
        times.append((time.perf_counter() - start) / batches)
    return 1e6 * statistics.median(times[1:])  # the first one compiles


if __name__ == "__main__":
    for sizes, batch, batches in NETWORKS:
        us = measure(sizes, batch, batches)
        print(f"jax-{jax.__version__} {'-'.join(map(str, sizes))} {batch} {us:.1f}", flush=True)
