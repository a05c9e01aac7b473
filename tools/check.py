#!/usr/bin/env python3
"""Checks the sources: who may include what, sizes, first comments, white space, layout.

    tools/check.py [ROOT] [--no-format]

Prints `file:line: what is wrong` and exits 1 if anything is.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

MAX_LINES = 500  # a file ends before this line

# What each part may include. `public` is include/shunt; std is allowed everywhere, posix everywhere
# but in the public headers. The order is that of the layers, from below.
ALLOWED = {
    "public": {"public"},
    "core": {"core", "public", "nlohmann", "xxhash"},
    "decide": {"decide", "core", "public"},
    "offload": {"offload", "core", "decide", "public"},
    "cpu": {"cpu", "core", "public", "openmp", "dnnl"},
    "net": {"net", "core", "decide", "public", "nlohmann"},
    "model": {"model", "net", "core", "public", "nlohmann"},
    "data": {"data", "core", "public", "zip"},
    "webgpu": {"webgpu", "core", "decide", "public", "webgpu.h", "xxhash"},
    "backend.cpp": {"core", "cpu", "webgpu", "public"},
    "no_gpu.cpp": {"public"},
    "cli": {"cli", "public", "cli11", "nlohmann"},
    "examples": {"examples", "public", "cli11", "nlohmann"},
}
# Tests, benchmarks and the consumer project look where they must.
FREE = ("tests", "bench")
# The one thin file of oneDNN: 3.x is then one file's work.
DNNL_FILES = re.compile(r"src/cpu/dnnl\w*\.(cpp|hpp)$")

LIBRARIES = {  # an include that starts so → the library
    "nlohmann/": "nlohmann", "xxhash.h": "xxhash", "oneapi/dnnl/": "dnnl", "dnnl": "dnnl", "omp.h": "openmp",
    "CLI/": "cli11", "webgpu.h": "webgpu.h", "wgpu.h": "webgpu.h", "zip.h": "zip", "zlib.h": "zip", "doctest/": "doctest", "benchmark/": "benchmark",
}
POSIX = re.compile(r"(unistd|fcntl|signal|dlfcn|sched|pthread|termios|poll|immintrin|x86intrin|cpuid|glob)\.h$|sys/\w+\.h$")
C_STD = re.compile(r"(stdbool|stddef|stdint|stdio|stdlib)\.h")  # of the header for C, and its example
CODE = {".cpp", ".hpp", ".c", ".h"}
COMMENTED = dict.fromkeys(CODE, "//") | {".sh": "#", ".cmake": "#", ".py": '"""', ".supp": "#"}
TEXT = CODE | set(COMMENTED) | {".md", ".txt", ".json", ".in", ".yml"}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if (not f.startswith(".") or f == ".ci") and f not in ("build", "__pycache__"))
        for name in sorted(names):
            yield pathlib.Path(folder, name).relative_to(root)


def part_of(path):
    """The layer that a source file belongs to, or None where nothing is ruled."""
    parts = path.parts
    if parts[:2] == ("include", "shunt"):
        return "public"
    if parts[0] == "src":
        return parts[1]
    return parts[0]


def included_part(root, path, mark, name):
    """What an include names: a part of Shunt, a library, "std", "posix", or None for a stranger."""
    if name.startswith("shunt/"):
        return "public"
    if mark == '"':
        if (root / path.parent / name).exists():
            return part_of(path.parent / name)
        return name.split("/")[0] if (root / "src" / name).exists() else None
    if re.fullmatch(r"\w+", name) or C_STD.fullmatch(name):
        return "std"
    if POSIX.match(name):
        return "posix"
    return next((library for start, library in LIBRARIES.items() if name.startswith(start)), None)


def check_include(root, path, mark, name):
    part = part_of(path)
    if part in FREE:
        return None
    if part not in ALLOWED:
        return f"{part} is no part that tools/check.py knows: add it to ALLOWED"
    what = included_part(root, path, mark, name)
    if what == "std" or (what == "posix" and part != "public"):
        return None
    if what == "dnnl" and not DNNL_FILES.search(path.as_posix()):
        return f"includes <{name}>: only src/cpu/dnnl*.cpp may"
    if what not in ALLOWED[part]:
        return f"{part} may not include {name} ({what or 'not known'}); it may: {', '.join(sorted(ALLOWED[part]))}, std"
    return None


def check_file(root, path):
    text = (root / path).read_bytes().decode("utf-8", "replace")
    lines = text.split("\n")
    if text and lines[-1]:
        yield len(lines), "no newline at the end of the file"
    script = lines[0].startswith("#!")
    if path.suffix in CODE | {".py", ".sh", ".cmake"} and len(lines) - 1 >= MAX_LINES:
        yield len(lines) - 1, f"{len(lines) - 1} lines; a file ends before line {MAX_LINES}: split it by what it does"
    start = COMMENTED.get(path.suffix) or ("#" if path.name in ("CMakeLists.txt", "Makefile") or script else None)
    first = lines[1] if script and len(lines) > 1 else lines[0]
    if start and not first.startswith(start):
        yield 1, f"does not begin with a comment that says what the file does ({start} …)"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if line.startswith("SHUNT_CLONES ") and "}  // namespace" in lines[:number]:
            yield number, "clones of a function that a header declares: clang 14 does not choose among them"
        if "\t" in line and path.name != "Makefile":
            yield number, "a tab"
        if path.suffix != ".md" and UNFINISHED.search(line):
            yield number, "unfinished: finish it, or file it as an issue"
        include = INCLUDE.match(line) if path.suffix in CODE else None
        if include:
            wrong = check_include(root, path, *include.groups())
            if wrong:
                yield number, wrong


def check_format(root, paths):
    """What clang-format 14 would change. Another version lays out differently, so it is no stand-in."""
    tool = shutil.which("clang-format-14")
    if tool is None:
        yield "clang-format-14 is missing: tools/setup.sh test"
        return
    done = subprocess.run([tool, "--dry-run", "--Werror", "--style=file", *map(str, paths)], cwd=root, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    for line in done.stderr.splitlines():
        if m := re.match(r"(.+?:\d+):\d+: error: ", line):
            yield f"{m[1]}: not laid out as clang-format does it: make format"
    if done.returncode and not done.stderr:
        yield f"clang-format-14 failed with {done.returncode}"


def check(root, layout=True):
    root = pathlib.Path(root)
    found, code = [], []
    for path in files(root):
        with open(root / path, "rb") as f:
            script = f.read(2) == b"#!"
        if path.suffix in TEXT or path.name == "Makefile" or script:
            found += [f"{path}:{line}: {what}" for line, what in check_file(root, path)]
        if path.suffix in CODE:
            code.append(path)
    if layout and code:
        found += dict.fromkeys(check_format(root, code))
    return found, len(code)


def main(arguments):
    roots = [a for a in arguments if not a.startswith("-")]
    found, n = check(roots[0] if roots else pathlib.Path(__file__).parent.parent, "--no-format" not in arguments)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"check.py: {n} C++ files, {len(found)} complaint{'s' if len(found) != 1 else ''}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
