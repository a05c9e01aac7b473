"""Runs the tool in a folder of its own and looks at what it printed, returned and left behind."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

TOOL = os.environ.get("SHUNT_TOOL", "shunt")
XOR = "a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"
GOLDEN = ("--layers dense:8,tanh,dense:2 --scale none --backend plain --seed 1 "
          "--epochs 400 --batch 4 --lr 0.02 --loss softmax").split()


class Run:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def json(self):
        return json.loads(self.out, parse_constant=lambda word: 1 / 0)  # NaN, Infinity: not JSON


class ToolTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="shunt-tool-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file("xor.csv", XOR)
        self.file("flowers.csv", flowers())

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def environment(self, **changes):
        env = {**os.environ, "SHUNT_BACKEND": "plain", "SHUNT_CACHE": "/dev/null", **changes}
        return {name: value for name, value in env.items() if value is not None}

    def run_tool(self, *arguments, stdin=None, stdout=subprocess.PIPE, **env):
        """stdin: text, bytes or the descriptor of an open file."""
        words = [str(a) for a in arguments]
        source = {"stdin" if isinstance(stdin, int) else "input": stdin.encode() if isinstance(stdin, str) else stdin}
        done = subprocess.run([TOOL, *words], cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE,
                              env=self.environment(**env), timeout=120, **source)
        return Run(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())

    def drawn(self, columns, *arguments, **env):
        """Each state of each line on standard error, a terminal of so many columns (0: it does not say)."""
        master, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        tool = subprocess.Popen([TOOL, *map(str, arguments)], cwd=self.folder, env=self.environment(**env),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # which is how its end is told
            while piece := os.read(master, 4096):
                shown += piece
        os.close(master)
        self.assertEqual(tool.wait(timeout=120), 0, shown)
        return [state for state in re.split(r"[\r\n]+", shown.decode().replace("\x1b[K", "")) if state]

    def works(self, *arguments, **more):
        run = self.run_tool(*arguments, **more)
        self.assertEqual(run.status, 0, run.err)
        return run

    def refused(self, status, *arguments, says=(), **more):
        """Fails before any work: one line, that has all the words; no result, no new or changed file."""
        before = self.files()
        run = self.run_tool(*arguments, **more)
        self.assertEqual(run.status, status, f"{run.out}\n{run.err}")
        self.assertEqual(run.out, "")
        self.assertRegex(run.err, r"\Ashunt: [^\n]+\n\Z")
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, run.err)
        self.assertEqual(self.files(), before)
        return run

    def refused_usage(self, *arguments, says=()):
        return self.refused(2, *arguments, says=says)

    def refused_data(self, *arguments, says=(), **more):
        return self.refused(1, *arguments, says=says, **more)

    def files(self):
        return {str(p): p.read_bytes() for p in sorted(self.folder.rglob("*")) if p.is_file()}

    def model(self, name="xor.safetensors"):
        """The golden XOR model."""
        self.works("train", "xor.csv", "--target", "y", *GOLDEN, "-o", name, "--quiet")
        return name


def flowers(n=30):
    """Three classes that two numbers tell apart, and a text column."""
    rows = ["length,width,color,kind"]
    for i in range(n):
        k = i % 3
        rows.append(f"{5 * k + i % 7 * 0.1:.1f},{3 * k - i % 5 * 0.1:.1f},{('red', 'blue')[i % 2]},{'abc'[k]}")
    return "\n".join(rows) + "\n"

