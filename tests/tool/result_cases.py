"""What works: numbers, documents, answers."""

import csv
import gzip
import io
import os
import re
import struct
import zipfile

from support import GOLDEN, ToolTest, XOR

GOLDEN_LOSS = "0.0004072603083691829"
TRAIN_KEYS = ["loss", "accuracy", "validation", "best_epoch", "epochs", "stopped", "backend", "adapter", "seconds",
              "n_params", "classes", "history", "settled", "notes"]


def npy(values, shape, kind="<f4"):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    code = {"<f4": "f", "<f8": "d", "|u1": "B", "<i8": "q"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values)


def idx(values, *sizes):
    return struct.pack(f">BBBB{len(sizes)}I", 0, 0, 8, len(sizes), *sizes) + bytes(values)


class Train(ToolTest):
    def train(self, *options, data="xor.csv", target="y", **more):
        return self.works("train", data, "--target", target, "--json", "--quiet", *options, **more)

    def test_the_golden_command(self):
        self.assertIn(f'"loss": {GOLDEN_LOSS},', self.train("--categorical", "y", *GOLDEN).out)

    def test_the_golden_command_without_categorical(self):
        run = self.train(*GOLDEN)
        self.assertIn(f'"loss": {GOLDEN_LOSS},', run.out)
        self.assertEqual(run.json["classes"], ["0", "1"])
        self.assertEqual(run.json["accuracy"], 1)
        self.assertEqual(run.json["history"][0], {"epoch": 1, "loss": 0.7259781442512687, "validation": None})

    def test_classes_are_named_by_the_text_of_their_first_row(self):
        self.file("d.csv", "a,y\n0,01\n1,1.50\n2,1\n3,1.5\n")
        run = self.train("--loss", "softmax", "--epochs", "1", data="d.csv")
        self.assertEqual(run.json["classes"], ["01", "1.50"])

    def test_json_of_classes_has_exactly_its_keys(self):
        run = self.train("--epochs", "3", "--hold-out", "0.3", data="flowers.csv", target="kind")
        self.assertEqual(list(run.json), TRAIN_KEYS)
        self.assertEqual(list(run.json["validation"]), ["loss", "accuracy"])
        self.assertEqual([list(e) for e in run.json["history"]], [["epoch", "loss", "validation"]] * 3)
        self.assertIsNotNone(run.json["history"][0]["validation"])
        self.assertEqual((run.json["stopped"], run.json["backend"], run.json["adapter"], run.json["settled"]),
                         ("epochs", "plain", None, None))
        self.assertEqual(run.err, "")

    def test_auto_says_what_it_settled_on_and_why(self):
        auto = {"SHUNT_BACKEND": None, "SHUNT_GPU": "off"}
        command = ("train", "flowers.csv", "--target", "kind", "--epochs", "30", "--batch", "2", "-o", "m")
        out = self.works(*command, **auto).out
        self.assertRegex(out, r" s on cpu\.\n(By its first steps )?cpu needs about [\d.]+ .?s for this run, too little")
        settled = self.works(*command, "--json", **auto).json["settled"]
        self.assertEqual(list(settled), ["backend", "n", "batch", "steps", "seconds_per_step", "from_memory", "why"])
        self.assertEqual((settled["backend"], settled["batch"], list(settled["seconds_per_step"])), ("cpu", 2, ["cpu"]))
        self.assertEqual(self.works(*command, "--quiet", **auto).out, "")
        self.assertNotIn("needs about", self.works(*command, "--backend", "cpu", **auto).out)

    def test_a_model_remembers_what_auto_settled_on(self):
        command = ("train", "flowers.csv", "--target", "kind", "--epochs", "3", "--batch", "2", "-o", "m")
        self.works(*command, SHUNT_BACKEND=None, SHUNT_GPU="off")
        self.assertRegex(self.works("info", "m").out, r"settled on +cpu\n")
        self.assertEqual(self.works("info", "m", "--json").json["settled_on"], "cpu")
        self.works(*command, "--backend", "cpu")
        self.assertNotIn("settled on", self.works("info", "m").out)
        self.assertNotIn("settled_on", self.works("info", "m", "--json").json)

    def test_a_model_from_a_card_that_is_not_here_answers_on_the_cpu_without_a_word(self):
        self.works("train", "flowers.csv", "--target", "kind", "--epochs", "3", "--batch", "2", "-o", "m", SHUNT_BACKEND=None,
                   SHUNT_GPU="off")
        content = (self.folder / "m").read_bytes()
        self.assertEqual(content.count(b'settled_on\\":\\"cpu'), 1)
        self.file("m", content.replace(b'settled_on\\":\\"cpu', b'settled_on\\":\\"gpu'))
        run = self.works("evaluate", "m", "flowers.csv", SHUNT_BACKEND=None, SHUNT_GPU="off")
        self.assertEqual(run.err, "")
        self.assertIn("accuracy", run.out)

    def test_json_of_numbers_has_exactly_its_keys(self):
        run = self.train("--epochs", "3", "--validate", "xor.csv")
        self.assertEqual(list(run.json), [k if k != "accuracy" else "rmse" for k in TRAIN_KEYS])
        self.assertEqual(list(run.json["validation"]), ["loss", "rmse"])
        self.assertIsNone(run.json["classes"])

    def test_the_same_command_gives_the_same_bytes(self):
        for name in ("m1", "m2"):
            self.train("--epochs", "3", "-o", name)
        self.assertEqual((self.folder / "m1").read_bytes(), (self.folder / "m2").read_bytes())

    def test_another_seed_gives_other_weights(self):
        losses = {self.train("--epochs", "1", "--seed", seed).json["loss"] for seed in ("1", "2", "-3")}
        self.assertEqual(len(losses), 3)

    def test_the_summary_says_how_good_it_is_and_beside_what(self):
        run = self.works("train", "flowers.csv", "--target", "kind", "--epochs", "3")
        for words in ("loss", "accuracy", "baseline", "on the training rows", "nothing was held out"):
            self.assertIn(words, run.out)
        run = self.works("train", "flowers.csv", "--target", "kind", "--epochs", "3", "--hold-out", "0.2")
        self.assertIn("held out", run.out)
        self.assertNotIn("nothing was held out", run.out)

    def test_without_output_the_first_and_the_last_line_say_so(self):
        run = self.works("train", "xor.csv", "--target", "y", "--epochs", "2")
        self.assertIn("will not be written", run.err.splitlines()[0])
        self.assertIn("No model was written", run.out.splitlines()[-1])
        run = self.works("train", "xor.csv", "--target", "y", "--epochs", "2", "--json")
        self.assertIn("No model was written", run.err.splitlines()[-1])
        self.assertEqual(list(self.files()), [str(self.folder / n) for n in ("flowers.csv", "xor.csv")])

    def test_progress_is_a_line_an_epoch(self):
        run = self.works("train", "flowers.csv", "--target", "kind", "--epochs", "3", "--hold-out", "0.2")
        lines = [line for line in run.err.splitlines() if line.startswith("epoch ")]
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[2], r"\Aepoch 3  loss \S+  held out \S+\Z")
        self.assertIn("flowers.csv: 30 rows, 3 features, target kind (3 classes: a 10, b 10, c 10)", run.err)

    def test_the_bar_fits_the_terminal_and_what_has_no_room_is_left_out_whole(self):
        state = (r"epoch +\d+/300(?P<bar>  [#.━─]{10,30})?(?P<loss>  loss [\d.e-]+)?(?P<held>  held out [\d.e-]+)?"
                 r"(  [\d,]+(/s| samples/s))?(?P<time>  [\d.e-]+ s|  [\d:]+( left)?)?")
        for columns, locale in ((0, "C"), (30, "C"), (40, "C"), (64, "C"), (80, "C"), (80, "C.UTF-8"), (120, "C.UTF-8")):
            shown = self.drawn(columns, "train", "flowers.csv", "--target", "kind", "--hold-out", "0.2", "--epochs", "300",
                               LC_ALL=locale)
            states = [re.fullmatch(state, line) for line in shown if line.startswith("epoch ")]
            with self.subTest(columns=columns, shown=shown):
                self.assertGreaterEqual(len(states), 2)
                self.assertTrue(all(states))
                self.assertLess(max(len(s[0]) for s in states), columns or 80)
                self.assertTrue(states[-1]["time"])
                self.assertEqual(bool(states[-1]["held"]), not 0 < columns < 64)
                if columns == 0 or columns >= 80:
                    self.assertTrue(all(s["bar"] for s in states))
                    self.assertTrue(states[-1]["loss"])

    def test_few_whole_numbers_as_a_target_bring_a_hint(self):
        self.assertIn("--loss softmax", self.works("train", "xor.csv", "--target", "y", "--epochs", "1").err)
        for options in (("--loss", "mse"), ("--loss", "softmax")):
            run = self.works("train", "xor.csv", "--target", "y", "--epochs", "1", *options)
            self.assertNotIn("--loss softmax", run.err)

    def test_quiet_prints_nothing(self):
        run = self.works("train", "xor.csv", "--target", "y", "--epochs", "2", "--quiet")
        self.assertEqual((run.out, run.err), ("", ""))

    def test_patience_keeps_the_best_weights(self):
        run = self.train("--patience", "2", "--min-delta", "0.5", "--epochs", "90")
        self.assertEqual((run.json["stopped"], run.json["best_epoch"]), ("patience", run.json["epochs"] - 2))
        self.assertEqual(self.train("--patience", "0", "--min-delta", "9", "--epochs", "90").json["epochs"], 2)

    def test_target_loss_ends_the_run(self):
        self.assertEqual(self.train("--target-loss", "1000").json["stopped"], "target_loss")

    def test_history_file(self):
        run = self.train("--epochs", "4", "--history", "h.csv")
        rows = list(csv.DictReader(io.StringIO((self.folder / "h.csv").read_text())))
        self.assertEqual([r["epoch"] for r in rows], ["1", "2", "3", "4"])
        self.assertEqual(float(rows[3]["loss"]), run.json["loss"])
        self.assertEqual(rows[0]["validation"], "")

    def test_raw_prices(self):
        rows = "".join(f"{30 + i},{'north' if i % 2 else 'south'},{100000 + 3000 * i + 20000 * (i % 2)}\n" for i in range(60))
        self.file("d.csv", "size,side,price\n" + rows)
        run = self.train("--epochs", "200", "-o", "m", data="d.csv", target="price")
        self.assertLess(run.json["rmse"], 4000)
        score = self.works("evaluate", "m", "d.csv", "--json").json
        self.assertGreater(score["r2"], 0.99)
        self.assertEqual(score["rmse"], run.json["rmse"])

    def test_a_table_as_people_have_them(self):
        rows = [f"{i % 9};{'' if i % 10 == 3 else i * 1.5};{['rot', 'blau', 'NA'][i % 3]};{'ja' if i % 9 > 4 else 'nein'}"
                for i in range(60)]
        self.file("d.csv", "\ufeff" + "\r\n".join(["größe;preis;farbe;kauft", *rows]) + "\r\n")
        for how in ("mean", "drop"):
            run = self.train("--missing", how, "-o", "m", data="d.csv", target="kauft")
            self.assertEqual(run.json["classes"], ["ja", "nein"])
            self.assertGreater(run.json["accuracy"], 0.9)
        said = self.works("train", "d.csv", "--target", "kauft", "--missing", "drop", "--epochs", "1").out
        self.assertIn("24 rows with missing values left out", said)
        answers = self.works("predict", "m", "d.csv").out.split("\n")
        self.assertEqual(len(answers), 62)
        self.assertEqual(answers[3], "")  # row 3 has no color: dropped
        self.assertNotEqual(answers[1], "")

    def test_several_targets(self):
        self.train("--epochs", "2", "-o", "m", target="a,y")
        self.assertEqual(self.works("predict", "m", "xor.csv").out.splitlines()[0], "a,y")

    def test_columns_by_number(self):
        self.assertEqual(self.train(*GOLDEN, target="3").json["loss"], float(GOLDEN_LOSS))

    def test_tokens(self):
        self.file("d.csv", "t,u,y\n0,4,even\n1,3,odd\n2,2,even\n3,1,odd\n")
        run = self.train("--tokens", "5", "--layers", "embed:3,dense:2", "--epochs", "2", data="d.csv")
        self.assertEqual(run.json["n_params"], 5 * 3 + 2 * 6 + 2)

    def test_sample_weights(self):
        self.file("d.csv", "a,b,y,w\n0,0,0,1\n0,1,1,1\n1,0,1,1\n1,1,0,1\n")
        self.assertEqual(self.train(*GOLDEN, "--sample-weights", "w", data="d.csv").json["loss"], float(GOLDEN_LOSS))

    def test_a_table_without_a_header(self):
        self.file("d.csv", XOR.split("\n", 1)[1])
        self.assertEqual(self.train(*GOLDEN, data="d.csv", target="c3").json["loss"], float(GOLDEN_LOSS))

    def test_stdin(self):
        self.assertEqual(self.train(*GOLDEN, data="-", stdin=XOR).json["loss"], float(GOLDEN_LOSS))

    def test_arrays_with_labels(self):
        self.file("x.npy", npy([0, 0, 0, 1, 1, 0, 1, 1], (4, 2)))
        self.file("y.npy", npy([0, 1, 1, 0], (4,), "<i8"))
        run = self.works("train", "x.npy", "--labels", "y.npy", *GOLDEN, "--json", "--quiet", "-o", "m")
        self.assertEqual(run.json["loss"], float(GOLDEN_LOSS))
        self.assertEqual(self.works("evaluate", "m", "x.npy", "--labels", "y.npy", "--json").json["accuracy"], 1)
        self.assertEqual(self.works("predict", "m", "x.npy").out, "prediction\n0\n1\n1\n0\n")

    def test_pictures_with_labels(self):
        self.file("x-ubyte.gz", gzip.compress(idx([0, 0, 0, 255, 255, 0, 255, 255], 4, 2, 1)))
        self.file("y-ubyte", idx([0, 1, 1, 0], 4))
        options = ("--validate", "x-ubyte.gz", "--validate-labels", "y-ubyte", *GOLDEN, "--json", "--quiet")
        run = self.works("train", "x-ubyte.gz", "--labels", "y-ubyte", *options)
        self.assertEqual(run.json["loss"], float(GOLDEN_LOSS))
        self.assertEqual(run.json["validation"]["accuracy"], 1)

    def test_another_locale_changes_nothing(self):
        run = self.train(*GOLDEN, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
        self.assertIn(GOLDEN_LOSS, run.out)
        self.assertEqual(self.train("--lr", "0.5", "--epochs", "1", LC_ALL="de_DE.UTF-8").status, 0)


class Predict(ToolTest):
    def test_one_line_a_row_with_a_header(self):
        run = self.works("predict", self.model(), "xor.csv")
        self.assertEqual((run.out, run.err), ("prediction\n0\n1\n1\n0\n", ""))

    def test_probabilities(self):
        run = self.works("predict", self.model(), "xor.csv", "--probabilities")
        lines = run.out.splitlines()
        self.assertEqual(lines[0], "prediction,p_0,p_1")
        self.assertEqual(lines[3], "1,0.0003147116425101744,0.9996852883574898")

    def test_keep_copies_the_cells_as_they_are(self):
        self.file("d.csv", 'id,b,note,a\n007,0,"x, ""y""",0\n1e3,1,NA,0\n')
        run = self.works("predict", self.model(), "d.csv", "--keep", "note,id,b")
        self.assertEqual(run.out, 'note,id,b,prediction\n"x, ""y""",007,0,0\n,1e3,1,1\n')

    def test_stdin_is_read_as_a_file_is(self):
        model, packed = self.model(), gzip.compress(XOR.encode())
        for command in ("predict", "evaluate"):
            run = self.works(command, model, "-", stdin=packed)
            self.assertEqual(run.out, self.works(command, model, "xor.csv").out)
        kept = self.works("predict", model, "-", "--keep", "a", stdin=packed)
        self.assertEqual(kept.out, self.works("predict", model, "xor.csv", "--keep", "a").out)
        for command in ("predict", "evaluate"):
            folder = os.open(self.folder, os.O_RDONLY)
            self.addCleanup(os.close, folder)
            self.refused_data(command, model, "-", stdin=folder, says=("stdin", "Is a directory"))

    def test_stdin_and_other_order_without_the_target(self):
        run = self.works("predict", self.model(), "-", "--keep", "b", stdin="b,z,a\n1,x,0\n1,y,1\n")
        self.assertEqual(run.out, "b,prediction\n1,1\n1,0\n")

    def test_to_a_file(self):
        run = self.works("predict", self.model(), "xor.csv", "-o", "answers.csv")
        self.assertEqual(run.out, "")
        self.assertEqual((self.folder / "answers.csv").read_text(), "prediction\n0\n1\n1\n0\n")

    def test_numbers_under_the_name_of_the_target(self):
        self.works("train", "xor.csv", "--target", "y", "--epochs", "300", "-o", "m", "--quiet")
        lines = self.works("predict", "m", "xor.csv").out.splitlines()
        self.assertEqual(lines[0], "y")
        self.assertLess(abs(float(lines[2]) - 1), 0.3)


class Evaluate(ToolTest):
    def test_json_of_classes(self):
        out = self.works("evaluate", self.model(), "xor.csv", "--json").json
        self.assertEqual(list(out), ["samples", "loss", "accuracy", "classes", "confusion"])
        self.assertEqual((out["samples"], out["accuracy"], out["confusion"]), (4, 1, [[2, 0], [0, 2]]))

    def test_json_of_numbers(self):
        self.works("train", "xor.csv", "--target", "y", "--epochs", "2", "-o", "m", "--quiet")
        self.assertEqual(list(self.works("evaluate", "m", "xor.csv", "--json").json), ["samples", "loss", "rmse", "r2"])

    def test_rows_of_the_confusion_matrix_are_the_truth(self):
        self.file("d.csv", "a,b,y\n0,0,1\n0,1,1\n")
        self.assertEqual(self.works("evaluate", self.model(), "d.csv", "--json").json["confusion"], [[0, 0], [1, 1]])

    def test_in_words(self):
        out = self.works("evaluate", self.model(), "xor.csv").out
        for words in ("loss", "accuracy", "true"):
            self.assertIn(words, out)


class NotFinite(ToolTest):
    """Rows that overflow inside a network in float32 have no answer, and one warning says which is the first."""

    def extreme(self):
        self.file("d.csv", "b,a,y\n0,0,0\n3e38,3e38,0\n\n1,0,1\n3e38,-3e38,1\n")
        self.works("train", "xor.csv", "--target", "y", "--loss", "softmax", "--hidden", "8,8,8", "--scale", "none", "--epochs",
                   "150", "--lr", "0.02", "--backend", "cpu", "-o", "m", "--quiet")
        return "m", "d.csv", "--backend", "cpu"

    def test_predict(self):
        run = self.works("predict", *self.extreme(), "--keep", "a", "--probabilities")
        lines = run.out.splitlines()
        self.assertEqual((lines[2], lines[4]), ("3e38,,,", "-3e38,,,"))
        self.assertRegex(lines[3], r"\A0,1,[\d.e-]+,[\d.e-]+\Z")
        self.assertRegex(run.err, r"\Awarning: 2 rows have no answer, the first is d\.csv:3: [^\n]*not finite[^\n]*\n\Z")

    def test_evaluate(self):
        run = self.works("evaluate", *self.extreme(), "--json")
        self.assertEqual((run.json["accuracy"], run.json["confusion"]), (0.5, [[1, 0], [0, 1]]))
        self.assertRegex(run.err, r"\Awarning: 2 rows [^\n]*d\.csv:3: [^\n]* count as wrong\.\n\Z")

    def test_one_row_of_numbers(self):
        self.file("steep.csv", "a,y\n0,0\n1,5000\n")
        self.works("train", "steep.csv", "--target", "y", "--hidden", "8", "--scale", "none", "--epochs", "300", "--lr", "0.2",
                   "--backend", "cpu", "-o", "m", "--quiet")
        run = self.works("predict", "m", "-", "--backend", "cpu", stdin="a\n0\n3e38\n")
        self.assertEqual(run.out.splitlines()[2], "")
        self.assertRegex(run.err, r"\Awarning: stdin:3 has no answer: [^\n]*\n\Z")


class Arrays(ToolTest):
    """An .npz of several arrays: train, predict, evaluate and info are told their names by the same options."""

    def setUp(self):
        super().setUp()
        x, y = npy([0, 0, 0, 1, 1, 0, 1, 1], (4, 2)), npy([0, 1, 1, 0], (4,), "<i8")
        self.npz("three.npz", x=x, y=y, w=y)
        self.npz("other.npz", data=x, truth=y, wide=x)
        self.npz("two.npz", x=x, y=y)
        self.works("train", "three.npz", "--target", "y", "--features", "x", *GOLDEN, "-o", "m", "--quiet")

    def npz(self, name, **arrays):
        with zipfile.ZipFile(self.folder / name, "w") as archive:
            for array, content in arrays.items():
                archive.writestr(array + ".npy", content)

    def test_predict(self):
        for options in (("two.npz",), ("three.npz", "--features", "x"), ("other.npz", "--features", "data")):
            self.assertEqual(self.works("predict", "m", *options).out, "prediction\n0\n1\n1\n0\n")
        kept = self.works("predict", "m", "other.npz", "--features", "data", "--target", "truth", "--keep", "truth")
        self.assertEqual(kept.out, "truth,prediction\n0,0\n1,1\n1,1\n0,0\n")
        self.refused_data("predict", "m", "three.npz", says=("x, y, w", "name the input with --features"))
        self.refused_data("predict", "m", "three.npz", "--features", "q", says=('"q"', "x, y, w", "--features names"))

    def test_evaluate(self):
        for options in (("two.npz",), ("three.npz", "--features", "x"),
                        ("other.npz", "--features", "data", "--target", "truth")):
            self.assertEqual(self.works("evaluate", "m", *options, "--json").json["accuracy"], 1)
        self.refused_data("evaluate", "m", "three.npz", says=("x, y, w", "name the input with --features"))
        self.refused_data("evaluate", "m", "other.npz", "--features", "data",
                          says=('"y"', "data, truth, wide", "--target names"))
        self.refused_data("evaluate", "m", "other.npz", "--features", "data", "--target", "wide", says="several columns")
        self.refused_usage("evaluate", "m", "two.npz", "--target", "y", "--labels", "y.npy", says="--labels")

    def test_info(self):
        self.refused_data("info", "three.npz", says=("x, y, w", "--features", "--target"))
        self.assertIn("2 columns", self.works("info", "three.npz", "--features", "x").out)
        self.assertIn("3 columns", self.works("info", "three.npz", "--features", "x", "--target", "w").out)

    def test_names_of_arrays_are_for_npz(self):
        model = self.model()
        for command in (("predict", model, "xor.csv"), ("evaluate", model, "xor.csv"), ("info", "xor.csv")):
            for option in ("--features", "--target"):
                self.refused_data(*command, option, "y", says=("xor.csv", ".npz"))


class Info(ToolTest):
    def test_a_model(self):
        out = self.works("info", self.model()).out
        for words in ("dense:8,tanh,dense:2", "42 parameters", "W [8, 2]", "2: 0, 1", "softmax", "400 epochs", "xxh3"):
            self.assertIn(words, out)

    def test_a_model_under_any_name(self):
        self.assertIn("42 parameters", self.works("info", self.model("m")).out)

    def test_a_model_as_json(self):
        out = self.works("info", self.model(), "--json").json
        self.assertEqual((out["format"], out["target"]["classes"], out["n_params"]), (1, ["0", "1"], 42))

    def test_a_table(self):
        out = self.works("info", "flowers.csv").out
        for words in ("30 rows", "4 columns", "length", "numeric", "color", "text", "blue 15", "a 10, b 10, c 10"):
            self.assertIn(words, out)

    def test_a_table_as_json(self):
        self.file("d.csv", "a,b\n1,x\n,y\n3,x\n")
        out = self.works("info", "d.csv", "--json").json
        self.assertEqual(out["columns"][0], {"name": "a", "kind": "numeric", "missing": 1, "min": 1, "max": 3, "mean": 2})
        self.assertEqual(out["columns"][1]["values"], [{"value": "x", "count": 2}, {"value": "y", "count": 1}])

    def test_a_mixture_is_shown_with_the_way_out(self):
        self.file("d.csv", "a,b\n1,1\n2,x\n3,4\n")
        self.assertIn("--categorical", self.works("info", "d.csv").out)
        self.assertIn("text", self.works("info", "d.csv", "--categorical", "b").out)

    def test_a_first_row_in_doubt_is_warned_of_by_every_command(self):
        self.file("d.csv", "0,1,2\n0,1,1\n1,0,1\n1,1,0\n")
        train = ("train", "d.csv", "--target", "c3", "--epochs", "1", "-o", "m")
        self.works(*train)
        for command in (train, ("info", "d.csv"), ("predict", "m", "d.csv"), ("evaluate", "m", "d.csv")):
            self.assertRegex(self.works(*command).err, r"(?m)^warning: d\.csv:1 is all numbers .*--header.*--no-header")
            self.assertNotIn("warning", self.works(*command, "--no-header").err)

    def test_many_columns_stay_readable(self):
        self.file("x.npy", npy([0.0] * 800, (1, 800)))
        self.assertLess(len(self.works("info", "x.npy").out.splitlines()), 50)
