"""What can compute here, and what a card that does not is missing."""

import json
import os
import unittest

from support import ToolTest

hidden = unittest.skipIf(os.environ.get("SHUNT_GPU") == "off", "SHUNT_GPU=off")


class Devices(ToolTest):
    def test_lists_the_backends_with_the_reason(self):
        out = self.works("devices").out
        for words in ("cpu", "plain", "gpu", "Graphics adapters"):
            self.assertIn(words, out)

    def test_as_json(self):
        out = self.works("devices", "--json", SHUNT_GPU="off").json
        backends = {b["name"]: b for b in out["backends"]}
        self.assertTrue(backends["plain"]["available"])
        self.assertFalse(backends["gpu"]["available"])
        self.assertTrue(backends["gpu"]["reason"])

    def test_a_missing_webgpu_library_is_no_card_and_everything_else_works(self):
        out = self.works("devices", SHUNT_WEBGPU_LIBRARY="/nowhere/libwgpu_native.so").out
        self.assertIn("/nowhere/libwgpu_native.so", out)
        self.assertIn("none", out)

    def test_an_adapter_is_listed_with_driver_limits_and_features(self):
        for a in self.works("devices", "--json").json["adapters"]:
            self.assertTrue(a["name"] and a["driver"] and a["reason"])
            self.assertGreaterEqual(a["max_storage_buffers"], 8)
            self.assertGreaterEqual(a["max_groups"], 65535)
            self.assertIsInstance(a["features"], list)
            self.assertIn("driver " + a["driver"], self.works("devices").out)

    @hidden
    def test_a_card_that_is_not_there_is_refused_with_those_that_are(self):
        adapters = self.works("devices", "--json").json["adapters"]
        for backend in ("gpu", "auto"):
            run = self.refused_data("train", "xor.csv", "--target", "y", "--backend", backend, "--adapter", "no such card")
            for a in adapters:
                self.assertIn("'no such card'", run.err)
                self.assertIn(a["name"], run.err)

    @hidden
    def test_a_card_is_named_by_number(self):
        adapters = self.works("devices", "--json").json["adapters"]
        for i, a in enumerate(adapters):
            gpu = ("--backend", "gpu", "--adapter", i)
            run = self.works("train", "xor.csv", "--target", "y", *gpu, "--epochs", 2, "-o", "m", "--json", "--quiet",
                             SHUNT_ADAPTER=None)
            self.assertEqual((run.json["backend"], run.json["adapter"]), ("gpu", a["name"]))
            self.works("predict", "m", "xor.csv", *gpu, SHUNT_ADAPTER=None)
            self.works("evaluate", "m", "xor.csv", *gpu, SHUNT_ADAPTER=None)


class Doctor(ToolTest):
    def doctor(self, **env):
        """Its checks by name, which the text says too, in the same order."""
        text = self.run_tool("devices", "--doctor", **env)
        run = self.run_tool("devices", "--doctor", "--json", **env)
        self.assertEqual((text.err, run.err), ("", ""))
        self.assertEqual(run.status, 0 if run.json["works"] else 1)
        self.assertEqual(text.status, run.status)
        lines = text.out.splitlines()
        for c in run.json["checks"]:
            line = lines.pop(0)
            self.assertTrue(line.startswith(("ok       " if c["ok"] else "missing  ") + c["check"] + ": "), line)
            if not c["ok"]:
                self.assertEqual(lines.pop(0).strip(), c["advice"])
        self.assertEqual(len(lines), 2)
        return {c["check"]: c for c in run.json["checks"]}

    def test_it_works_where_an_adapter_is_used(self):
        used = any(a["used"] for a in self.works("devices", "--json").json["adapters"])
        checks = self.doctor()
        self.assertEqual(checks["a kernel"]["ok"], used)
        self.assertEqual(checks["adapters"]["ok"], used)

    def test_a_missing_webgpu_library(self):
        checks = self.doctor(SHUNT_WEBGPU_LIBRARY="/nowhere/libwgpu_native.so")
        self.assertFalse(checks["WebGPU library"]["ok"])
        self.assertIn("/nowhere/libwgpu_native.so", checks["WebGPU library"]["found"])
        self.assertIn("SHUNT_WEBGPU_LIBRARY", checks["WebGPU library"]["advice"])
        self.assertFalse(checks["a kernel"]["ok"])

    def test_another_library_in_its_place(self):
        checks = self.doctor(SHUNT_WEBGPU_LIBRARY="libm.so.6")
        self.assertIn("wgpu", checks["WebGPU library"]["found"])

    def test_a_driver_whose_library_is_missing(self):
        file = self.file("card.json", json.dumps({"ICD": {"library_path": "/nowhere/libcard.so"}}))
        checks = self.doctor(VK_DRIVER_FILES=file, VK_ICD_FILENAMES=None)
        self.assertTrue(checks["Vulkan drivers"]["ok"])
        self.assertIn("/nowhere/libcard.so", checks["driver card.json"]["found"])
        self.assertIn(file, checks["driver card.json"]["advice"])
        self.assertFalse(checks["adapters"]["ok"])
        self.assertFalse(checks["a kernel"]["ok"])

    def test_a_driver_file_that_is_none(self):
        checks = self.doctor(VK_ICD_FILENAMES=self.file("card.json", "no driver"), VK_DRIVER_FILES=None)
        self.assertFalse(checks["driver card.json"]["ok"])
        checks = self.doctor(VK_DRIVER_FILES="/nowhere/card.json")
        self.assertIn("VK_DRIVER_FILES", checks["driver card.json"]["advice"])

    def test_no_driver_at_all(self):
        (self.folder / "empty").mkdir()
        checks = self.doctor(VK_DRIVER_FILES=str(self.folder / "empty"))
        self.assertFalse(checks["Vulkan drivers"]["ok"])
        self.assertIn("empty", checks["Vulkan drivers"]["found"])
        self.assertFalse(checks["a kernel"]["ok"])

    def test_cards_that_are_hidden(self):
        checks = self.doctor(SHUNT_GPU="off")
        if not checks["Vulkan drivers"]["ok"] or "SHUNT_GPU" not in checks["adapters"]["found"]:
            self.skipTest("no adapter")
        self.assertEqual(checks["adapters"]["advice"], "Unset SHUNT_GPU.")
