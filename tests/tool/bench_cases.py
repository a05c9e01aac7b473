"""Benchmarks: what they measure and print. How long anything takes is not looked at."""

import signal
import subprocess

import support
from calibrate_cases import has_card
from support import ToolTest

SMALL = ("--most", "1e5", "--products", "2", "--convolutions", "1")


class Bench(ToolTest):
    def test_it_lists_what_there_is(self):
        run = self.works("bench")
        for words in ("offload", "conv", "Usage: shunt bench"):
            self.assertIn(words, run.out)

    def test_unknown_names(self):
        self.refused_usage("bench", "ofload", says=("'ofload' is not a benchmark", "Did you mean offload?", "conv"))
        self.refused_usage("bench", "--seed", says=("'--seed' is not an option of shunt bench", "offload"))

    def test_each_has_help(self):
        for name in ("offload", "conv"):
            out = self.works("bench", name, "--help").out
            self.assertIn("Usage: shunt bench " + name, out)
            self.assertLessEqual(max(map(len, out.splitlines())), 110)


class Conv(ToolTest):
    def conv(self, *options, **env):
        return self.works("bench", "conv", "--seconds", "1e-9", "--most", "1e7", *options, **env)

    def test_a_line_a_convolution_after_the_conditions(self):
        lines = self.conv("--backend", "cpu", "--threads", "1").out.splitlines()
        self.assertRegex(lines[0], r"\Ashunt \d+\.\d+\.\d+")
        self.assertRegex(lines[1], r"\ACPU   .+, 1 thread\Z")
        self.assertRegex(lines[-1], r"\A1x\d+x\d+x\d+ to \d+, \dx\d.* [µm]?s .* [MG]FLOP/s\Z")

    def test_as_json(self):
        run = self.conv("--json", "--backend", "cpu", "--threads", "2")
        self.assertEqual((run.json["backend"], run.json["cpu"]["threads"], run.json["adapter"]), ("cpu", 2, None))
        for c in run.json["convolutions"]:
            out = (c["height"] // c["stride"]) * (c["width"] // c["stride"])
            macs = c["pictures"] * c["out_channels"] * c["channels"] // c["groups"] * c["kernel"][0] * c["kernel"][1] * out
            self.assertLessEqual(macs, 1e7)
            self.assertAlmostEqual(c["gflop_per_second"] * c["seconds"] / (2e-9 * macs), 1)
            self.assertIn(f"to {c['out_channels']}, ", run.err)
        self.assertEqual(self.conv("--json", "--quiet", "--backend", "cpu").err, "")

    def test_the_backend(self):
        self.assertIn(" on plain", self.conv("--most", "9e6").out)  # by SHUNT_BACKEND
        run = self.conv("--json", SHUNT_BACKEND=None, SHUNT_GPU="off")
        self.assertEqual(run.json["backend"], "cpu")
        self.assertIn("No card: SHUNT_GPU=off", run.err)
        for env in ({"SHUNT_BACKEND": "gpu"}, {"SHUNT_BACKEND": None}):
            card = () if env["SHUNT_BACKEND"] else ("--adapter", "0")
            self.refused_data("bench", "conv", *card, SHUNT_GPU="off", **env, says="SHUNT_GPU=off")
        if has_card(self):
            run = self.conv("--json", SHUNT_BACKEND=None)
            self.assertEqual(run.json["backend"], "gpu")
            self.assertTrue(run.json["adapter"]["name"])

    def test_wrong_usage(self):
        def refused(*options, says):
            self.refused_usage("bench", "conv", *options, says=says)
        refused("--seconds", "0", says=("--seconds '0'", "above 0"))
        refused("--seconds", "-1", says="--seconds '-1'")
        refused("--seconds", "long", says="'long'")
        refused("--seconds", "nan", says="'nan'")
        refused("--most", "0", says=("--most '0'", "at least 1"))
        refused("--most", "1", says=("--most 1 leaves nothing to measure", "5.76e+06"))
        refused("--backend", "cup", says=("'cup'", "Did you mean cpu?", "plain"))
        refused("--backend", "cpu", "--adapter", "0", says=("--adapter", "cpu"))
        refused("--second", "1", says="Did you mean --seconds?")
        refused("all", says="'all'")

    def test_ctrl_c_ends_it(self):
        words = [support.TOOL, "bench", "conv", "--backend", "plain", "--seconds", "1000"]
        tool = subprocess.Popen(words, cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(tool.kill)
        self.assertIn("shunt", tool.stdout.readline())  # the rest would take hours
        tool.send_signal(signal.SIGINT)
        tool.communicate(timeout=60)
        self.assertEqual(tool.returncode, -signal.SIGINT)


class Offload(ToolTest):
    def test_without_a_card_the_reason_is_told(self):
        self.refused_data("bench", "offload", SHUNT_GPU="off", says="SHUNT_GPU=off")
        self.refused_data("bench", "offload", "--adapter", "no such card", SHUNT_GPU=None,
                          SHUNT_WEBGPU_LIBRARY="/nowhere", says="/nowhere")

    def test_wrong_usage(self):
        def refused(*options, says):
            self.refused_usage("bench", "offload", *options, says=says)
        for option in ("--products", "--convolutions", "--seed"):
            refused(option, "-1", says=(f"{option} '-1'", "at least 0"))
            refused(option, "1.5", says=f"{option} '1.5'")
            refused(option, "few", says="'few'")
        refused("--most", "999", says=("--most '999'", "at least 1000"))
        refused("--most", "inf", says="'inf'")
        refused("--products", "0", "--convolutions", "0", says="nothing to measure")
        refused("--product", "1", says="Did you mean --products?")

    def offload(self, *options):
        """Its choices may be bad ones for so small operators, on a machine with other things to do."""
        if not has_card(self):
            self.skipTest("no card")
        run = self.run_tool("bench", "offload", *SMALL, *options)
        self.assertIn(run.status, (0, 1))
        last = run.err.splitlines()[-1] if run.err else ""
        self.assertEqual(last.startswith("shunt: what was chosen for "), run.status == 1, run.err)
        return run

    def test_a_line_an_operator_and_the_sums(self):
        lines = self.offload().out.splitlines()
        self.assertRegex(lines[2], r"\Acard  .+, driver ")
        self.assertEqual([line.split()[0] for line in lines if line.endswith((" s", "ms", "µs", "*"))],
                         ["matmul", "matmul", "conv2d"])
        self.assertRegex(lines[-2], r"\Aproducts: the CPU alone .+, as chosen .+: [\d.]+\Z")
        self.assertRegex(lines[-1], r"\Aconvolutions: the CPU alone ")
        quiet = self.offload("--quiet").out
        self.assertNotIn("matmul", quiet)
        self.assertIn("products: the CPU alone", quiet)

    def test_as_json(self):
        run = self.offload("--json")
        out = run.json
        self.assertEqual([o["weight"] for o in out["operators"]], ["kept", "sent", "kept"])
        self.assertIsNone(out["last_error"])
        self.assertGreater(out["calibration"]["costs"]["latency"], 0)
        kinds = {"products": out["operators"][:2], "convolutions": out["operators"][2:]}
        for kind, operators in kinds.items():
            for time in ("cpu", "card", "chosen", "faster"):
                self.assertAlmostEqual(out[kind][time], sum(o[time] for o in operators), places=12)
            self.assertAlmostEqual(out[kind]["faster"], sum(min(o["cpu"], o["card"]) for o in operators), places=12)
            self.assertAlmostEqual(out[kind]["regret"], out[kind]["chosen"] / out[kind]["faster"])
        self.assertEqual(run.status, 1 if any(out[k]["regret"] > out["most_regret"] for k in kinds) else 0)
        self.assertIn("matmul", run.err)
        again = self.offload("--json", "--quiet", "--seed", "1")
        self.assertEqual([o["operator"] for o in again.json["operators"]], [o["operator"] for o in out["operators"]])
        self.assertNotIn("matmul", again.err)
        other = self.offload("--json", "--quiet", "--seed", "2", "--convolutions", "0").json
        self.assertNotEqual([o["operator"] for o in other["operators"]], [o["operator"] for o in out["operators"]][:2])
        self.assertIsNone(other["convolutions"])
