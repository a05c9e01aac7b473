"""Time one training step of two dense networks in scikit-learn's MLPClassifier.

Prints `peer network batch microseconds_per_step`, the median over timed fits
of one epoch each (whole fit / steps, so shuffling and bookkeeping count).
The BLAS kernel in use goes to standard error.
"""
import os
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # let OpenBLAS choose
    os.environ.pop(name, None)
import statistics
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_info

warnings.simplefilter("ignore", ConvergenceWarning)

NETWORKS = [  # layer sizes, batch, batches in an epoch
    ((784, 128, 128, 10), 64, 100),
    ((784, 512, 512, 10), 256, 40),
]
EPOCHS = 9  # timed, after one warm-up epoch


def measure(sizes, batch, batches):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch * batches, sizes[0]), dtype=np.float32)
    y = np.arange(batch * batches) % sizes[-1]  # every class is present
    model = MLPClassifier(
        hidden_layer_sizes=sizes[1:-1], activation="relu", solver="adam",
        alpha=0.0, batch_size=batch, learning_rate_init=1e-3, shuffle=True,
        max_iter=1, tol=0.0, n_iter_no_change=10**9, warm_start=True,
        random_state=0)
    times = []
    for _ in range(EPOCHS + 1):  # warm_start: each fit is one more epoch
        start = time.perf_counter()
        model.fit(x, y)
        times.append((time.perf_counter() - start) / batches)
    return 1e6 * statistics.median(times[1:])


if __name__ == "__main__":
    for lib in threadpool_info():
        print("#", lib["internal_api"], lib.get("version"), lib.get("architecture"),
              lib["num_threads"], "threads", lib["filepath"].split("/")[-1], file=sys.stderr)
    for sizes, batch, batches in NETWORKS:
        us = measure(sizes, batch, batches)
        print(f"sklearn-{sklearn.__version__} {'-'.join(map(str, sizes))} {batch} {us:.1f}", flush=True)
