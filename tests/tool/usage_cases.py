"""Wrong usage: exit 2, one line that names the value and what there is. And help."""

import os

from support import ToolTest

COMMANDS = ("train", "predict", "evaluate", "info", "devices", "calibrate", "bench")
TRAIN_OPTIONS = """--target --features --layers --hidden --activation --loss --scale --backend --epochs --batch
    --optimizer --lr --momentum --weight-decay --lr-decay --patience --min-delta --target-loss --seed --validate
    --validate-labels --labels --hold-out --threads --adapter --drop --categorical --missing --unknown --tokens
    --sample-weights --header --no-header --output --history --json --quiet --help""".split()


class Help(ToolTest):
    def test_alone_it_shows_the_commands_and_an_example(self):
        run = self.works()
        for words in (*COMMANDS, "shunt train iris.csv", "--help", "--version"):
            self.assertIn(words, run.out)
        self.assertEqual(self.works("--help").out, run.out)

    def test_version(self):
        self.assertRegex(self.works("--version").out, r"\Ashunt \d+\.\d+\.\d+\n\Z")

    def test_every_command_has_help_on_stdout(self):
        for command in COMMANDS:
            run = self.works(command, "--help")
            self.assertIn("Usage: shunt " + command, run.out)
            self.assertEqual(run.err, "")
            self.assertLessEqual(max(map(len, run.out.splitlines())), 110)

    def test_train_help_has_exactly_the_options_of_this_version(self):
        words = self.works("train", "--help").out.replace(",", " ").split("\nFor example")[0].split()
        listed = [w for w in words if w.startswith("--")]
        for option in TRAIN_OPTIONS:
            self.assertIn(option, listed)
        for later in ("--checkpoint", "--resume", "--report", "--from"):
            self.assertNotIn(later, listed)
            self.refused_usage("train", "xor.csv", "--target", "y", later, "x", says=later)

    def test_help_wins_over_what_is_missing(self):
        self.works("predict", "x", "--help")


class Usage(ToolTest):
    def train(self, *options, says=()):
        return self.refused_usage("train", "xor.csv", "--target", "y", *options, says=says)

    def test_unknown_command(self):
        self.refused_usage("trian", "xor.csv", says=("trian", "Did you mean train?", "evaluate"))

    def test_unknown_option_offers_the_nearest(self):
        self.refused_usage("train", "xor.csv", "--tagret", "y", says=("--tagret", "Did you mean --target?"))
        self.refused_usage("--frobnicate", says="--frobnicate")
        self.refused_usage("info", "xor.csv", "--epochs", "3", says="--epochs")

    def test_too_many_arguments(self):
        self.refused_usage("info", "xor.csv", "other.csv", says="other.csv")

    def test_missing_arguments(self):
        self.refused_usage("train", says="DATA")
        self.refused_usage("train", "xor.csv", says="--target")
        self.refused_usage("predict", says="MODEL")
        self.refused_usage("evaluate", "m", says="DATA")
        self.refused_usage("info", says="file")

    def test_an_option_without_its_value(self):
        self.refused_usage("train", "xor.csv", "--target", says="--target needs a value")
        self.train("-o", "", says="--output")

    def test_an_option_is_not_the_value_of_another(self):
        self.refused_usage("train", "xor.csv", "--target", "--epochs", "5", says="--target needs a value")
        self.train("--epochs", "--json", says="--epochs needs a value")
        self.train("-o", "--quiet", says="-o needs a value")
        self.train("--history", "-o", "m", says="--history needs a value")
        # What is no option may be a column's name.
        self.refused_data("train", "xor.csv", "--target", "y", "--features", "--frobnicate", says="--frobnicate")

    def test_a_flag_takes_no_value(self):
        self.train("--json=3", says="--json takes no value")
        self.train("--quiet=", says="--quiet takes no value")

    def test_sizes_of_zero(self):
        self.train("--epochs", "0", says=("--epochs", "'0'", "at least 1"))
        self.train("--batch", "0", says=("--batch", "at least 1"))
        self.train("--hidden", "0", says=("--hidden", "at least 1"))
        self.train("--hidden", "8,,8", says="--hidden")
        self.train("--layers", "dense:0", says="dense")
        self.train("--tokens", "0", says="--tokens")
        self.train("--threads", "0", says="--threads")

    def test_values_that_are_no_numbers(self):
        self.train("--epochs", "many", says=("--epochs", "many"))
        self.train("--epochs", "1.5", says="1.5")
        self.train("--batch", "-4", says="-4")
        self.train("--epochs", "99999999999999999999", says="99999999999999999999")
        self.train("--lr", "nan", says=("--lr", "nan"))
        self.train("--lr", "inf", says="inf")
        self.train("--lr", "0,1", says="0,1")
        self.train("--seed", "one", says="--seed 'one' is not a finite number.\n")
        self.train("--seed", "inf", says="--seed 'inf' is not a finite number.\n")

    def test_values_out_of_range(self):
        self.train("--lr", "0", says="above 0")
        self.train("--lr", "-0.1", says="above 0")
        for share in ("0", "1", "1.5", "-0.2"):
            self.train("--hold-out", share, says=(share, "above 0 and below 1"))
        self.train("--weight-decay", "-1", says="at least 0")
        self.train("--optimizer", "sgd", "--momentum", "1", says="below 1")
        self.train("--patience", "-1", says="at least 0")

    def test_unknown_names_list_what_there_is(self):
        self.train("--layers", "dense:8,swish,dense:2", says=("swish", "tanh"))
        self.train("--layers", "", says="--layers")
        self.train("--loss", "hinge", says=("hinge", "softmax", "mse"))
        self.train("--backend", "cuda", says=("cuda", "auto", "plain", "cpu"))
        self.train("--activation", "gelu", says=("gelu", "relu", "tanh", "sigmoid"))
        self.train("--optimizer", "adamw", says=("adamw", "adam", "sgd"))
        self.train("--scale", "robust", says=("robust", "standard", "minmax", "none"))
        self.train("--missing", "median", says=("median", "mean", "drop"))
        self.train("--unknown", "maybe", says=("maybe", "zero"))

    def test_options_that_exclude_or_need_each_other(self):
        self.train("--layers", "dense:2", "--hidden", "8", says=("--layers", "--hidden"))
        self.train("--layers", "dense:2", "--activation", "tanh", says="--activation")
        self.train("--validate", "xor.csv", "--hold-out", "0.5", says=("--validate", "--hold-out"))
        self.train("--validate-labels", "l.npy", says="--validate")
        self.train("--labels", "l.npy", says="--labels")
        self.train("--header", "--no-header", says=("--header", "--no-header"))
        self.train("--momentum", "0.5", says="sgd")
        self.train("--min-delta", "0.5", says="--patience")
        self.refused_usage("train", "xor.csv", "--target", "a,b", "--loss", "softmax", says="one target")

    def test_an_adapter_is_for_a_backend_that_has_one(self):
        for backend in ("cpu", "plain"):
            self.train("--backend", backend, "--adapter", "0", says=("--adapter", backend))
            self.refused_usage("predict", "m", "xor.csv", "--backend", backend, "--adapter", "0", says="--adapter")
        self.refused(1, "train", "xor.csv", "--target", "y", "--adapter", "0", says=("adapter '0'", "plain", "gpu and auto"))

    def test_results_do_not_replace_their_sources(self):
        self.train("-o", "xor.csv", says="xor.csv")
        self.train("--history", "./xor.csv", says="xor.csv")
        self.train("-o", "m", "--history", "m", says="--history")
        self.works("train", "xor.csv", "--target", "y", "--epochs", 1, "-o", "kept", "--quiet")
        for name in ("kept", "xor.csv"):  # refused() checks that all files stay as they are
            self.refused_usage("predict", "kept", "xor.csv", "-o", name, says="cannot be written as well")

    def test_results_do_not_replace_what_stdin_reads(self):
        for command in (("predict", self.model(), "-", "-o", "xor.csv"), ("train", "-", "--target", "y", "-o", "xor.csv"),
                        ("train", "-", "--target", "y", "--history", "./xor.csv")):
            with open(self.folder / "xor.csv") as table:
                self.refused(2, *command, stdin=table.fileno(), says="xor.csv' is read; it cannot be written")
        with open(self.folder / "xor.csv") as table:
            self.works("predict", "xor.safetensors", "-", "-o", "other.csv", stdin=table.fileno())

    def test_names_of_one_file_that_is_not_there_yet(self):
        (self.folder / "q" / "dd").mkdir(parents=True)
        os.symlink("q/b", self.folder / "dangling")
        os.symlink("q", self.folder / "folder")
        for a, b in (("./new", "new"), (self.folder / "new", "new"), ("q/dd/../b", "q/b"), ("dangling", "q/b"),
                     ("folder/b", "q/b"), ("dangling", self.folder / "folder" / "b")):
            for output, history in ((a, b), (b, a)):
                with self.subTest(output=output, history=history):
                    self.train("-o", output, "--history", history, says="same file")
        self.works("train", "xor.csv", "--target", "y", "--epochs", 1, "-o", "b", "--history", "q/b", "--quiet")

    def test_the_last_of_an_option_counts(self):
        run = self.works("train", "xor.csv", "--target", "y", "--epochs", "2", "--epochs", "3", "--json", "--quiet")
        self.assertEqual(run.json["epochs"], 3)
