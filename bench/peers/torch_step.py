"""Time one training step of dense networks in PyTorch on a CUDA card, eager, float32 (TF32 off).

Samples stay on the card and are gathered by a permutation made there; the loss is read once an epoch.
Prints `peer network batch microseconds_per_step`, the median over epochs.
"""
import statistics
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False

NETWORKS = [  # layer sizes, batch, batches in an epoch
    ((784, 128, 128, 10), 64, 100),
    ((784, 512, 512, 10), 256, 40),
    ((784, 2048, 2048, 10), 1024, 10),
]
EPOCHS = 9  # timed, after one warm-up epoch


def measure(sizes, batch, batches):
    device = torch.device("cuda")
    x = torch.randn(batch * batches, sizes[0], device=device)
    y = torch.randint(0, sizes[-1], (batch * batches,), device=device)
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1]).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    times = []
    for _ in range(EPOCHS + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        total = torch.zeros((), device=device)
        for rows in torch.randperm(x.shape[0], device=device).reshape(-1, batch):
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(net(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            total += loss.detach()
        total.item()
        times.append((time.perf_counter() - start) / batches)
    return 1e6 * statistics.median(times[1:])


if __name__ == "__main__":
    for sizes, batch, batches in NETWORKS:
        us = measure(sizes, batch, batches)
        print(f"torch-{torch.__version__} {'-'.join(map(str, sizes))} {batch} {us:.1f}", flush=True)
