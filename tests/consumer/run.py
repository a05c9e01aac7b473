"""Builds and runs the consumer projects, in C++ and in C, against an installed Shunt: run.py STAGE COMPILER

Also: the installed files stay below 20 MB, and the hello-world compiles in less than 5 s.
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

stage, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
source = pathlib.Path(__file__).parent
build = pathlib.Path("build")


def run(*command):
    print("$", *command, flush=True)
    subprocess.run(command, check=True)


megabytes = sum(f.lstat().st_size for f in stage.rglob("*") if f.is_file()) / 1e6
print(f"installed: {megabytes:.1f} MB")
assert megabytes < 20, "the installed files are larger than 20 MB"


def configure(project, place, compiler_option):
    shutil.rmtree(place, ignore_errors=True)
    run("cmake", "-S", project, "-B", place, "-G", "Ninja", compiler_option, f"-DCMAKE_PREFIX_PATH={stage}",
        "-DCMAKE_BUILD_TYPE=Release")
    cache = (place / "CMakeCache.txt").read_text()
    assert f"shunt_DIR:PATH={stage}" in cache, "found another Shunt than the one just installed"


configure(source, build, f"-DCMAKE_CXX_COMPILER={compiler}")
before = resource.getrusage(resource.RUSAGE_CHILDREN)
run("cmake", "--build", build)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = after.ru_utime - before.ru_utime  # processor time: other work on the machine does not count
print(f"compiled and linked: {seconds:.1f} s")
assert seconds < 5, "a hello-world takes longer than 5 s to compile"
run(build / "hello")

build_c = pathlib.Path("build_c")
c_compiler = {"g++": "gcc", "clang++": "clang"}[compiler]
configure(source / "c", build_c, f"-DCMAKE_C_COMPILER={c_compiler}")
run("cmake", "--build", build_c)
run(build_c / "hello_c")
