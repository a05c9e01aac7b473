"""Costs of offload: measured, kept, written, and shown from a file."""

import json
import os

from support import ToolTest

# The figures of a card that was made up, and by which each threshold can be worked out.
COSTS = {"latency": 50e-6, "up": 1e-10, "down": 1e-10, "gpu_gemm": 1e-13, "gpu_direct": 1e-12, "gpu_col": 4e-12,
         "cpu_gemm": 1e-11, "cpu_conv": 1.5e-11, "cpu_act": 2e-9, "gpu_act": 5e-12, "up_fixed": 0, "down_fixed": 0,
         "gpu_step": 0, "cpu_fixed": 0, "gpu_fixed": 0, "cpu_byte": 0, "cpu_depthwise": 0, "cpu_act_cheap": 0,
         "tile_m": 1, "tile_n": 1, "spread": 0}


def has_card(test):
    return any(b["name"] == "gpu" and b["available"] for b in test.works("devices", "--json").json["backends"])


def least(holds, most, step=1):
    """The size from which on it holds for all up to `most`; None: not for `most`."""
    n = most
    while n >= step and holds(n):
        n -= step
    return None if n == most else n + step


class Costs(ToolTest):
    def shown(self, **changes):
        return self.works("calibrate", "--costs", self.file("c.json", json.dumps({**COSTS, **changes})), "--json",
                          SHUNT_GPU="off").json

    def test_a_file_is_shown_without_a_card(self):
        self.file("c.json", json.dumps(COSTS))
        text = self.works("calibrate", "--costs", "c.json", SHUNT_GPU="off").out
        for words in ("200 GFLOP/s", "20 TFLOP/s", "10 GB/s", "50 µs", "500 Mvalues/s", "200 Gvalues/s"):
            self.assertIn(words, text)

    def test_from_which_size_on_the_card_is_faster(self):
        start = self.shown()["card_faster_from"]
        transfers = 4e-10
        for weight, kept in (("weight_kept", True), ("weight_sent", False)):
            sent = 1 if not kept else 0
            self.assertEqual(start["product"][weight],
                             least(lambda n: 50e-6 + transfers * n * n * (2 + sent) + n**3 * 1e-13 < n**3 * 1e-11, 2000))
            self.assertEqual(start["row"][weight],
                             least(lambda n: 50e-6 + transfers * (2 * n + sent * n * n) + n * n * 1e-13 < n * n * 1e-11, 16384))
            self.assertEqual(start["convolution"][weight],
                             least(lambda n: 50e-6 + transfers * (128 * n * n + sent * (64 * 64 * 9 + 64))
                                   + 64 * 64 * 9 * n * n * 1e-13 + 64 * 9 * n * n * 4e-12 < 64 * 64 * 9 * n * n * 1.5e-11, 2048))
        self.assertIsNone(start["row"]["weight_sent"])
        self.assertIsNone(start["depthwise"]["weight_kept"])  # the bus alone takes longer
        self.assertEqual(start["gelu"], {"up_to": 65536 * 1024, "from": 41 * 1024})  # 41,842 values

    def test_the_uncertainty_counts(self):
        sure, unsure = self.shown(), self.shown(spread=0.5)
        self.assertGreater(unsure["card_faster_from"]["product"]["weight_sent"],
                           sure["card_faster_from"]["product"]["weight_sent"])

    def test_never_and_always_in_words(self):
        self.file("slow.json", json.dumps({**COSTS, "latency": 1e9}))
        self.file("fast.json", json.dumps({**COSTS, "cpu_gemm": 1}))
        slow = self.works("calibrate", "--costs", "slow.json").out
        self.assertEqual(slow.count("never, up to"), 9)
        self.assertEqual(self.works("calibrate", "--costs", "fast.json").out.count("always"), 4)

    def test_a_file_that_holds_no_costs_is_refused(self):
        self.refused_data("calibrate", "--costs", "nowhere.json", says="nowhere.json")
        self.file("c.json", json.dumps({**COSTS, "up": -1}))
        self.refused_data("calibrate", "--costs", "c.json", says=("c.json", "up", "negative"))
        self.refused_data("calibrate", "--costs", "xor.csv", says="xor.csv")

    def test_a_file_is_not_measured(self):
        for option in ("--adapter", "--output"):
            self.refused_usage("calibrate", "--costs", "c.json", option, "0", says=("--costs", option))


class Measuring(ToolTest):
    def test_without_a_card_the_reason_is_told(self):
        self.refused_data("calibrate", "--json", "-o", "c.json", SHUNT_GPU="off", says="SHUNT_GPU=off")
        self.refused_data("calibrate", SHUNT_GPU=None,
                          SHUNT_WEBGPU_LIBRARY="/nowhere/libwgpu_native.so", says="/nowhere/libwgpu_native.so")

    def test_wrong_usage(self):
        self.refused_usage("calibrate", "again", says="again")
        self.refused_usage("calibrate", "--jsno", says="Did you mean --json?")
        self.refused_data("calibrate", "-o", "no/such/folder/c.json", SHUNT_GPU="off", says="no/such/folder")

    def test_a_card_is_measured_and_its_costs_are_kept(self):
        if not has_card(self):
            self.skipTest("no card")
        self.refused_data("calibrate", "--adapter", "no such card", says="no such card")
        cache = self.folder / "cache"
        run = self.run_tool("calibrate", "--json", SHUNT_CACHE=str(cache))
        found = run.json
        self.assertTrue(found["adapter"]["name"] and found["adapter"]["driver"] and found["cpu"]["name"])
        self.assertEqual(sorted(found["costs"]), sorted(COSTS))
        self.assertEqual(found["spread"], found["costs"]["spread"])
        self.assertGreater(found["seconds"], 0)
        if found["kept_in"]:
            self.assertEqual((run.status, run.err), (0, ""))
            self.assertEqual(found["kept_in"], str(cache / "measured.json"))
            self.assertIn(found["adapter"]["name"], (cache / "measured.json").read_text())
            self.assertLessEqual(found["spread"], 0.5)
        else:  # a busy machine
            self.assertEqual(run.status, 1)
            self.assertIn(found["not_kept"], run.err)
            self.assertGreater(found["spread"], 0.5)

    def test_costs_that_are_not_kept_are_told_of_and_can_be_written(self):
        if not has_card(self):
            self.skipTest("no card")
        run = self.run_tool("calibrate")  # SHUNT_CACHE is no folder
        self.assertEqual(run.status, 1)
        self.assertIn("GFLOP/s", run.out)
        self.assertRegex(run.err, r"\Ashunt: the costs are not kept for offload[^\n]+\n\Z")
        run = self.works("calibrate", "-o", "c.json", "--json")
        self.assertEqual((run.json["kept_in"], run.json["written_to"]), (None, "c.json"))
        self.assertRegex(run.err, r"\Ashunt: note: the costs are not kept for offload[^\n]+\n\Z")
        shown = self.works("calibrate", "--costs", "c.json", "--json").json
        self.assertEqual((shown["costs"], shown["card_faster_from"]), (run.json["costs"], run.json["card_faster_from"]))
        self.assertEqual(sorted(os.listdir(self.folder)), ["c.json", "flowers.csv", "xor.csv"])
