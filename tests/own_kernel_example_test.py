"""examples/own_kernel.cpp runs on the card where there must be one, and says so where there is none."""
import os
import pathlib
import subprocess

program = pathlib.Path(os.environ["SHUNT_BUILD"], "examples", "own_kernel")


def output(**environment):
    return subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE, env=os.environ | environment).stdout


if os.environ.get("SHUNT_NEED_GPU") == "1":
    printed = output()
    assert ": 31\n" in printed and "at most 1: accuracy 1\n" in printed, printed
printed = output(SHUNT_GPU="off")
assert printed.count("\n") == 1 and printed.endswith(".\n") and "31" not in printed, printed
