"""Files are whole or not there, earlier ones stay as they were; standard output that cannot be written is an error."""

import contextlib
import os
import pathlib
import resource
import signal
import stat
import subprocess
import time
import unittest

import support
from support import ToolTest


@contextlib.contextmanager
def mounted(folder, *options):
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], capture_output=True)
    if done.returncode != 0:
        raise unittest.SkipTest("needs the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class Places(ToolTest):
    def train(self, output, *options):
        return ("train", "xor.csv", "--target", "y", "--epochs", "2", "-o", output, *options)

    def test_a_place_that_cannot_be_written_is_found_before_training(self):
        self.refused_data(*self.train("none/m"), says="none/m")
        self.refused_data(*self.train("xor.csv/m"), says="xor.csv/m")
        self.refused_data(*self.train("."), says=".")
        self.refused_data(*self.train("m", "--history", "none/h.csv"), says="none/h.csv")
        self.refused_data("predict", self.model(), "xor.csv", "-o", "none/a.csv", says="none/a.csv")

    def test_a_read_only_folder(self):
        with mounted(self.folder / "ro", "-o", "ro") as folder:
            self.refused_data(*self.train("ro/m"), says="ro/m")
            self.assertEqual(os.listdir(folder), [])

    def device(self):
        """A full disk of our own: /dev/full stays out of the reach of mistakes."""
        place = self.folder / "full"
        try:
            os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 7))
            place.open("wb").close()
        except OSError as error:
            raise unittest.SkipTest("needs the right to make devices") from error
        return place

    def test_a_full_device(self):
        place = self.device()
        run = self.run_tool(*self.train("full"))
        self.assertEqual((run.status, run.out), (1, ""))
        self.assertRegex(run.err.splitlines()[-1], r"\Ashunt: .*full.*[Nn]o space")
        self.assertTrue(stat.S_ISCHR(place.stat().st_mode))
        self.refused_data("predict", self.model(), "xor.csv", "-o", "full", says="full")

    def test_a_full_disk_leaves_the_earlier_file(self):
        with mounted(self.folder / "small", "-o", "size=8k") as folder:
            (folder / "m").write_bytes(b"precious")
            run = self.run_tool(*self.train("small/m"))
            self.assertEqual(run.status, 1)
            self.assertRegex(run.err.splitlines()[-1], r"\Ashunt: .*small/m")
            self.assertEqual(os.listdir(folder), ["m"])
            self.assertEqual((folder / "m").read_bytes(), b"precious")
            (folder / "fill").write_bytes(b"x" * 4096)
            self.file("d.csv", "a,b\n" + "0,1\n" * 3000)
            self.refused_data("predict", self.model(), "d.csv", "-o", "small/m", says="small/m")
            self.assertEqual(sorted(os.listdir(folder)), ["fill", "m"])
            self.assertEqual((folder / "m").read_bytes(), b"precious")

    def test_a_file_past_the_limit_of_the_process(self):
        tool = subprocess.run([support.TOOL, *self.train("m")], cwd=self.folder, env=self.environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        self.assertEqual((tool.returncode, tool.stdout), (1, ""))
        self.assertEqual(tool.stderr.splitlines()[-1], "shunt: m cannot be written: File too large.")
        self.assertEqual(sorted(os.listdir(self.folder)), ["flowers.csv", "xor.csv"])

    def test_failures_leave_earlier_files(self):
        self.file("m", "precious")
        self.file("bad.csv", "a,y\n1,2\nx,3\n4,5\n")
        self.refused_data("train", "bad.csv", "--target", "y", "-o", "m", says="bad.csv:3")
        self.refused_data("predict", "bad.csv", "xor.csv", "-o", "m")

    def test_an_existing_file_is_replaced_whole(self):
        self.file("m", "x" * 100000)
        self.works(*self.train("m"))
        self.works("info", "m")
        self.assertEqual(sorted(os.listdir(self.folder)), ["flowers.csv", "m", "xor.csv"])


class StandardOutput(ToolTest):
    def test_full(self):
        model = self.model()
        for command in (("predict", model, "xor.csv"), ("evaluate", model, "xor.csv"), ("info", "xor.csv"),
                        ("devices",), ("--help",), ("train", "xor.csv", "--target", "y", "--epochs", "1")):
            with open("/dev/full", "w") as full:
                run = self.run_tool(*command, stdout=full)
            self.assertEqual(run.status, 1, command)
            self.assertRegex(run.err.splitlines()[-1], r"\Ashunt: .*[Nn]o space")

    def test_a_reader_that_has_gone(self):
        self.file("d.csv", "a,b\n" + "0,1\n" * 50000)
        words = [support.TOOL, "predict", self.model(), "d.csv"]
        tool = subprocess.Popen(words, cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        self.assertEqual(tool.stdout.readline(), b"prediction\n")
        tool.stdout.close()
        self.assertEqual(tool.stderr.read(), b"")
        tool.stderr.close()
        self.assertEqual(tool.wait(), 0)


class Interrupted(ToolTest):
    def start(self, *options):
        words = [support.TOOL, "train", "flowers.csv", "--target", "kind", "--epochs", "1000000", *options]
        tool = subprocess.Popen(words, cwd=self.folder, env=self.environment(), text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        self.addCleanup(tool.kill)
        while not tool.stderr.readline().startswith("epoch 2 "):
            self.assertIsNone(tool.poll())
        return tool

    def start_slow(self, *options, ignored=(), catches=signal.SIGINT):
        """In its first epoch, which is long."""
        rows = "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(4000))
        self.file("big.csv", "a,b,y\n" + rows)
        words = [support.TOOL, "train", "big.csv", "--target", "y", "--hidden", "300,300", "--batch", "20", *options]
        tool = subprocess.Popen(words, cwd=self.folder, env=self.environment(), text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE,
                                preexec_fn=lambda: [signal.signal(s, signal.SIG_IGN) for s in ignored])
        self.addCleanup(tool.kill)
        while not self.catches(tool.pid, catches):  # reading is done, the first step is not
            time.sleep(0.01)
        return tool

    def catches(self, pid, number):
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
        return int(status["SigCgt"], 16) >> (number - 1) & 1

    def finish(self, tool):
        out, err = tool.communicate(timeout=60)
        return support.Run(tool.returncode, out, err)

    def test_ctrl_c_writes_the_model_and_says_so(self):
        for ask in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            tool = self.start("-o", "m", "--json", "--history", "h.csv", "--hold-out", "0.2")
            tool.send_signal(ask)
            run = self.finish(tool)
            self.assertEqual(run.status, 128 + ask)
            self.assertEqual(run.json["stopped"], "interrupted")
            self.assertEqual(len(run.json["history"]), run.json["epochs"])
            self.assertRegex(run.err.splitlines()[-1], r"\Ashunt: interrupted")
            self.assertIn("interrupted", self.works("info", "m").out)
            self.assertEqual(len((self.folder / "h.csv").read_text().splitlines()), run.json["epochs"] + 1)
            self.assertEqual(sorted(os.listdir(self.folder)), ["flowers.csv", "h.csv", "m", "xor.csv"])

    def test_ctrl_c_without_output_writes_nothing(self):
        tool = self.start()
        tool.send_signal(signal.SIGINT)
        run = self.finish(tool)
        self.assertEqual(run.status, 130)
        self.assertIn("interrupted", run.out)
        self.assertIn("nothing was written", run.err.splitlines()[-1])
        self.assertEqual(sorted(os.listdir(self.folder)), ["flowers.csv", "xor.csv"])

    def test_ctrl_c_before_the_first_epoch_ended_writes_nothing(self):
        self.file("m", "precious")
        self.file("h.csv", "precious too")
        for options, out in (((), r"\A\Z"), (("--json",), r'"epochs": 0,.*\n *"stopped": "interrupted"'), (("--quiet",), r"\A\Z")):
            tool = self.start_slow("-o", "m", "--history", "h.csv", *options)
            before = self.files()
            tool.send_signal(signal.SIGINT)
            run = self.finish(tool)
            self.assertEqual(run.status, 130)
            self.assertRegex(run.out, out)
            self.assertEqual(run.err.splitlines()[-1],
                             "shunt: interrupted before the first epoch ended; nothing was written.")
            self.assertEqual(self.files(), before)

    def test_what_is_ignored_from_the_start_stays_ignored(self):
        tool = self.start_slow(ignored=(signal.SIGINT, signal.SIGHUP), catches=signal.SIGTERM)
        for number in (signal.SIGINT, signal.SIGHUP):
            self.assertFalse(self.catches(tool.pid, number))
        tool.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(tool).status, 128 + signal.SIGTERM)

    def test_ctrl_c_twice_ends_at_once_and_touches_nothing(self):
        self.file("m", "precious")
        # An epoch is a step, and so slow that the second one comes before the first has its effect.
        tool = self.start_slow("--hidden", "1500,1500", "--batch", "4000", "-o", "m")
        tool.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(tool.poll())
        asked = time.monotonic()
        tool.send_signal(signal.SIGINT)
        run = self.finish(tool)
        self.assertLess(time.monotonic() - asked, 1)
        self.assertEqual((run.status, run.out), (130, ""))
        self.assertEqual((self.folder / "m").read_bytes(), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["big.csv", "flowers.csv", "m", "xor.csv"])

    def test_ctrl_c_without_output_tells_of_the_history(self):
        tool = self.start("--history", "h.csv")
        tool.send_signal(signal.SIGINT)
        run = self.finish(tool)
        self.assertEqual(run.status, 130)
        self.assertRegex(run.err.splitlines()[-1],
                         r"\Ashunt: interrupted after \d+ epochs; the history is in h.csv, and no model was written\.\Z")
        self.assertEqual(sorted(os.listdir(self.folder)), ["flowers.csv", "h.csv", "xor.csv"])

    def start_slow_scores(self, *options):
        """Trains on four rows, and is scored on so many that what comes when the results are written comes meanwhile."""
        self.file("many.csv", "a,b,y\n" + "0,1,1\n1,1,0\n" * 6000)
        words = [support.TOOL, "train", "xor.csv", "--target", "y", "--epochs", "1", "--hidden", "400,400",
                 "--validate", "many.csv", *options]
        tool = subprocess.Popen(words, cwd=self.folder, env=self.environment(), text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        self.addCleanup(tool.kill)
        return tool

    def wait_for(self, tool, name):
        while not (self.folder / name).exists():
            self.assertIsNone(tool.poll())
            time.sleep(0.01)

    def test_ctrl_c_while_the_model_is_scored_ends_at_once_and_keeps_it(self):
        tool = self.start_slow_scores("-o", "m", "--history", "h.csv")
        self.wait_for(tool, "h.csv")
        tool.send_signal(signal.SIGINT)
        run = self.finish(tool)
        self.assertEqual((run.status, run.out), (130, ""))
        self.assertEqual(run.err.splitlines()[-1],
                         "shunt: interrupted while the trained model was scored; the model is in m, the history in h.csv.")
        self.assertIn("1 epoch", self.works("info", "m").out)
        self.assertEqual(len((self.folder / "h.csv").read_text().splitlines()), 2)

    def test_ctrl_c_with_patience_keeps_the_best_weights(self):
        tool = self.start("--patience", "900000", "--json")
        time.sleep(0.2)
        tool.send_signal(signal.SIGINT)
        run = self.finish(tool)
        losses = [e["loss"] for e in run.json["history"]]
        self.assertEqual(losses[run.json["best_epoch"] - 1], min(losses))
