"""Times a training step of shunt beside its peers, in one run on one machine: on the CPU beside JAX and
scikit-learn, with --card on a graphics card beside JAX and PyTorch for CUDA.

    python3 -m venv build/peers && build/peers/bin/pip install -r bench/peers/requirements.txt
    build/peers/bin/python bench/peers/compare.py build/release/bench/train_step [ROUNDS] [--card]

The programs take turns, ROUNDS times each (default 7): shared machines wander, so what counts is the
ratio within a round. Prints the median time of each, and the median and the range of the ratios.
"""
import collections
import os
import pathlib
import platform
import statistics
import subprocess
import sys

here = pathlib.Path(__file__).parent


def times(command):
    """{(network, batch): microseconds} from lines `name network batch microseconds`."""
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    return rows[0][0], {(network, batch): float(us) for _, network, batch, us in rows}


def processor():
    names = [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")]
    return f"{len(names)} cores, {names[0]}" if names else platform.processor()


def main():
    card = "--card" in sys.argv
    arguments = [a for a in sys.argv[1:] if a != "--card"]
    ours = arguments[0]
    rounds = int(arguments[1]) if len(arguments) > 1 else 7
    peers = [[sys.executable, here / ("torch_step.py" if card else "sklearn_step.py")]]
    commands = [[ours, "gpu" if card else "cpu"], [sys.executable, here / "jax_step.py"]] + peers
    os.environ["JAX_PLATFORMS"] = "cuda" if card else "cpu"
    all_times = collections.defaultdict(list)  # (peer, network) -> microseconds by round
    for _ in range(rounds):
        for command in commands:
            peer, by_network = times(command)
            for network, us in by_network.items():
                all_times[peer, network].append(us)
    own = next(peer for peer, _ in all_times)
    print(f"{processor()}; {rounds} rounds; microseconds a step, median; ratio shunt / peer, median (least to most)")
    for (peer, network), list_us in all_times.items():
        line = f"{network[0]:<18} batch {network[1]:<5} {peer:<22} {statistics.median(list_us):9.1f}"
        if peer != own and (own, network) in all_times:
            ratios = [a / b for a, b in zip(all_times[own, network], list_us)]
            line += f"   {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(line)


if __name__ == "__main__":
    main()
