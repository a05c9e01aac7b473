#!/usr/bin/env python3
"""Runs the code in a Markdown file: readme_test.py FILE STAGE (an installed Shunt)

A fenced block is tested where an HTML comment stands right above it:

    <!-- test: NAME -->           a cpp block is compiled and run, an sh block is run line by line
    <!-- test on a card: NAME --> the same, run only where SHUNT_NEED_GPU=1 says that there is a graphics card
    <!-- file: PATH -->           a block of any kind is written to PATH, for the tests below it
    <!-- output of NAME -->       the block is what NAME prints; "…" stands for any text, on a line
                                  of its own for any lines; durations, and numbers of more
                                  than three decimals, count as equal

All in one folder, in order, with STAGE/bin first in PATH; it has nothing but the examples/ beside FILE. A cpp block without main is put
into one. Blocks with no comment are left alone.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"^<!-- (test|file|output)( on a card)?(?: of|:) *(.+?) -->\n+```(\w*)\n(.*?)^```$", re.M | re.S)
LONG_NUMBER = re.compile(r" *\b\d+\.\d{4,}(e-?\d+)?\b")  # the last digits depend on the processor
DURATION = re.compile(r"\b\d+(\.\d+)?(e-?\d+)? ?(ns|us|µs|ms|s|min|h)\b|\b\d+:\d\d(:\d\d)?\b")
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(readme LANGUAGES CXX)
find_package(shunt REQUIRED)
add_executable({name} {name}.cpp)
target_link_libraries({name} PRIVATE shunt::shunt shunt::data)
"""


def run(command, **options):
    done = subprocess.run(command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode:
        raise SystemExit(f"{command} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


def whole_program(code):
    if re.search(r"\bint main\(", code):
        return code
    lines = code.splitlines()
    head = [line for line in lines if re.match(r"#include|using namespace", line)]
    body = [line for line in lines if line not in head]
    return "\n".join(["#include <array>", "#include <iostream>", *head, "int main() {", *body, "}", ""])


def run_cpp(name, code, stage, runs):
    place = pathlib.Path(f"cpp_{name}")
    place.mkdir()
    (place / f"{name}.cpp").write_text(whole_program(code))
    (place / "CMakeLists.txt").write_text(CMAKE.format(name=name))
    run(["cmake", "-S", place, "-B", place / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={stage}"])
    run(["cmake", "--build", place / "build"])
    return run([place / "build" / name]) if runs else None


def masked(text):
    return LONG_NUMBER.sub(" <number>", DURATION.sub("<time>", text)).rstrip()


def same(expected, got):
    """Whether an output block is what was printed."""
    pattern = ""
    for line in masked(expected).splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part.rstrip()) for part in line.rstrip().split("…")) + r"[ ]*\n"
    return re.fullmatch(pattern, masked(got) + "\n") is not None


def test(text, stage):
    """Runs all blocks in the current folder; the names of what was tested."""
    outputs, compared = {}, []
    # Every such comment must be one that BLOCK takes: a slip must not switch a test off.
    marks = re.findall(r"^<!-- *(?:test|file|output)\b.*$", text, re.M)
    blocks = BLOCK.findall(text)
    if len(marks) != len(blocks):
        raise SystemExit(f"{len(marks)} comments but {len(blocks)} blocks right below one: {marks}")
    for kind, on_card, name, language, code in blocks:
        runs = not on_card or os.environ.get("SHUNT_NEED_GPU") == "1"
        if kind == "file":
            pathlib.Path(name).write_text(code)
        elif kind == "test" and language == "cpp":
            outputs[name] = run_cpp(name, code, stage, runs)
        elif kind == "test" and language in ("sh", "bash"):
            outputs[name] = run(["bash", "-euo", "pipefail", "-c", code]) if runs else None
        elif kind == "test":
            raise SystemExit(f"{name}: cannot test a block of \"{language}\"; cpp and sh are known")
        elif name not in outputs:
            raise SystemExit(f"output of {name}: there is no test of that name above it")
        elif outputs[name] is None:
            continue
        elif not same(code, outputs[name]):
            raise SystemExit(f"{name} prints something else. Expected:\n{code}\nGot:\n{outputs[name]}")
        else:
            compared.append(name)
    return [name for name, output in outputs.items() if output is not None], compared


def main(readme, stage):
    text = pathlib.Path(readme).read_text()
    stage = pathlib.Path(stage).resolve()
    os.environ["PATH"] = f"{stage / 'bin'}:{os.environ['PATH']}"
    os.environ.setdefault("SHUNT_WEBGPU_LIBRARY", str(stage / "lib/libwgpu_native.so"))  # no system's loader looks there
    shutil.rmtree("readme", ignore_errors=True)
    os.mkdir("readme")
    examples = pathlib.Path(readme).resolve().parent / "examples"
    os.chdir("readme")
    if examples.exists():
        os.symlink(examples, "examples")
    ran, compared = test(text, stage)
    print(f"ran: {', '.join(ran) or 'nothing'}; compared: {', '.join(compared) or 'nothing'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
