"""Python's safetensors reads a model's file, and numpy computes the same answers from it."""
import csv
import json
import os
import subprocess

import numpy
from safetensors import safe_open

tool = os.environ["SHUNT_TOOL"]
with open("xor.csv", "w") as file:
    file.write("a,b,y\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n")


def shunt(*arguments):
    return subprocess.run([tool, *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout


for backend, kind in (("plain", numpy.float64), ("cpu", numpy.float32)):
    shunt("train", "xor.csv", "--target", "y", "--layers", "dense:8,tanh,dense:2", "--scale", "none", "--epochs", "300",
          "--backend", backend, "--quiet", "-o", "xor.safetensors")
    with safe_open("xor.safetensors", framework="np") as model:
        assert json.loads(model.metadata()["shunt"])["format"] == 1
        w = {name: model.get_tensor(name) for name in model.keys()}
    assert all(t.dtype == kind for t in w.values()), {name: t.dtype for name, t in w.items()}
    assert w["0.W"].shape == (8, 2) and w["2.W"].shape == (2, 8)

    x = numpy.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=kind)
    logits = numpy.tanh(x @ w["0.W"].T + w["0.b"].ravel()) @ w["2.W"].T + w["2.b"].ravel()
    expected = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    rows = list(csv.DictReader(shunt("predict", "xor.safetensors", "xor.csv", "--probabilities").splitlines()))
    got = numpy.array([[float(row["p_no"]), float(row["p_yes"])] for row in rows])
    assert numpy.allclose(got, expected, rtol=1e-5, atol=1e-7), (got, expected)
    assert [row["prediction"] for row in rows] == ["no", "yes", "yes", "no"]
print("float64 and float32: the same answers")
