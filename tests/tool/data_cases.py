"""What the data refuses: exit 1, one line with file, line and column."""

from support import ToolTest, XOR


class Refused(ToolTest):
    def train(self, content, *options, says=(), target="y"):
        self.file("d.csv", content)
        return self.refused_data("train", "d.csv", "--target", target, "-o", "m.safetensors", *options, says=says)

    def test_missing_file(self):
        self.refused_data("train", "none.csv", "--target", "y", says="none.csv")
        self.refused_data("info", "none.csv", says="none.csv")
        self.refused_data("predict", "none.safetensors", "xor.csv", says="none.safetensors")
        self.refused_data("train", "xor.csv", "--target", "y", "--validate", "none.csv", says="none.csv")

    def test_a_folder(self):
        self.refused_data("train", ".", "--target", "y", says=".")

    def test_empty_file(self):
        self.train("", says="d.csv")

    def test_header_alone(self):
        self.train("a,b,y\n", says="d.csv")

    def test_one_row(self):
        self.train("a,y\n1,2\n", says=("1 row", "2"))

    def test_unknown_column_lists_the_columns(self):
        self.train(XOR, target="z", says=('z', "a, b, y"))
        self.train(XOR, "--drop", "z", says=('z', "a, b, y"))
        self.train(XOR, "--features", "z", says=('z', "a, b, y"))
        self.train(XOR, "--categorical", "z", says=('z', "a, b, y"))
        self.train(XOR, "--sample-weights", "z", says=('z', "a, b, y"))
        self.train(XOR, target="9", says="9")

    def test_a_cell_that_is_no_number(self):
        self.train("a,b,y\n0,0,0\n0,1,1\n1,oops,1\n1,1,0\n", says=("d.csv:4", "b", "oops", "--categorical"))

    def test_a_decimal_comma(self):
        self.train("a;y\n1,5;2\n2,5;3\n", says=("d.csv:2", "1,5"))

    def test_ragged_row(self):
        self.train("a,b,y\n0,0,0\n0,1\n1,0,1\n", says="d.csv:3")

    def test_missing_value(self):
        for word in ("", "NA", "nan", "NaN", "?"):
            self.train(f"a,b,y\n0,0,0\n0,{word},1\n1,0,1\n", says=("d.csv:3", "b"))

    def test_missing_target(self):
        self.train("a,y\n0,0\n1,\n2,1\n", "--missing", "mean", says=("d.csv:3", "y"))

    def test_infinity(self):
        for word in ("inf", "-inf", "Infinity", "1e999"):
            self.train(f"a,y\n0,0\n{word},1\n2,1\n", says=("d.csv:3", "a", word))

    def test_a_number_past_float32(self):
        for data in ("a,y\n1,x\n1e39,z\n2,x\n3,z\n", "y,a\n1,5\n1e39,6\n2,7\n3,5\n"):
            for backend in ("cpu", "plain"):
                self.train(data, "--scale", "none", "--backend", backend, says=("d.csv:3", data[0], "1e+39", "float32"))
        self.train("a,w,y\n1,1,x\n2,1e39,z\n", "--sample-weights", "w", says=("d.csv:3", "w", "1e+39"))

    def test_a_number_past_float32_in_the_validation_file(self):
        for backend in ("cpu", "plain"):
            for v, column in (("a,b,y\n0,0,1\n0,1e39,1\n", "b"), ("a,b,y\n0,0,1\n0,1,-1e39\n", "y")):
                self.file("v.csv", v)
                self.refused_data("train", "xor.csv", "--target", "y", "--validate", "v.csv", "--backend", backend,
                                  says=("v.csv:3", column, "1e+39"))

    def test_bytes_that_are_no_text(self):
        self.train(b"a,y\n0,0\n\xff\xfe,1\n", says="d.csv:3")
        self.train(b"a,y\n0,0\n0\x00,1\n", says="d.csv:3")

    def test_two_columns_of_one_name(self):
        self.train("a,a,y\n1,2,3\n4,5,6\n", says="a")

    def test_no_feature_left(self):
        self.train("a,y\n1,2\n2,3\n", "--drop", "a", says="feature")

    def test_one_class(self):
        self.train("a,y\n0,x\n1,x\n2,x\n", says=("y", "x"))
        self.train("a,y\n0,5\n1,5\n2,5\n", says=("y", "5"))

    def test_an_id_as_a_feature(self):
        rows = "".join(f"id{i},{i % 2}\n" for i in range(1100))
        self.train("id,y\n" + rows, says=("id", "--drop"))

    def test_class_out_of_range_of_the_layers(self):
        self.train("a,y\n0,u\n1,v\n2,w\n", "--layers", "dense:2", says=("2", "3"))

    def test_token_out_of_range(self):
        tokens = ("--tokens", "5", "--layers", "embed:2,dense:2", "--loss", "softmax")
        self.train("t,u,y\n0,4,0\n5,1,1\n", *tokens, says=("d.csv:3", "5"))
        self.train("t,u,y\n0,4,0\n-1,1,1\n", *tokens, says=("d.csv:3", "-1"))
        self.train("t,u,y\n0,4,0\n1.5,1,1\n", *tokens, says=("d.csv:3", "1.5"))

    def test_layers_that_do_not_go_together(self):
        self.train(XOR, "--layers", "embed:2,dense:1", says="embed")

    def test_several_targets_of_text(self):
        self.refused_data("train", "flowers.csv", "--target", "color,kind", says="numbers")

    def test_mse_of_text(self):
        self.refused_data("train", "flowers.csv", "--target", "kind", "--loss", "mse", says="kind")

    def test_a_class_in_the_validation_file_that_training_has_not(self):
        self.file("v.csv", "length,width,color,kind\n1,2,red,d\n")
        self.refused_data("train", "flowers.csv", "--target", "kind", "--validate", "v.csv", says=("v.csv:2", "d"))

    def test_a_backend_that_is_not_here(self):
        self.refused_data("train", "xor.csv", "--target", "y", "--backend", "gpu", says="gpu", SHUNT_GPU="off")
        self.refused_data("train", "xor.csv", "--target", "y", says="cuda", SHUNT_BACKEND="cuda")

    def test_a_loss_that_is_no_longer_finite_names_the_epoch(self):
        run = self.run_tool("train", "xor.csv", "--target", "y", "--optimizer", "sgd", "--lr", "1e200", "-o", "m")
        self.assertEqual(run.status, 1)
        self.assertEqual(run.out, "")
        self.assertRegex(run.err.splitlines()[-1], r"\Ashunt: .*epoch \d")
        self.assertFalse((self.folder / "m").exists())


class RefusedByAModel(ToolTest):
    def test_a_feature_that_is_not_there(self):
        self.file("d.csv", "a,c\n1,2\n")
        self.refused_data("predict", self.model(), "d.csv", says=("d.csv", "b"))

    def test_the_target_is_not_there_to_evaluate(self):
        self.file("d.csv", "a,b\n1,0\n")
        self.refused_data("evaluate", self.model(), "d.csv", says=("d.csv", "y"))

    def test_text_where_numbers_are_expected(self):
        self.file("d.csv", "a,b\n1,x\n")
        self.refused_data("predict", self.model(), "d.csv", says="b")

    def test_a_number_past_float32(self):
        self.works("train", "xor.csv", "--target", "y", "-o", "m", "--epochs", "1", "--quiet")
        for backend in ("cpu", "plain"):
            self.file("d.csv", "a,b,y\n0,0,0\n0,1e39,1\n")
            self.refused_data("predict", "m", "d.csv", "--backend", backend, says=("d.csv:3", "b", "1e+39", "float32"))
            self.refused_data("evaluate", "m", "d.csv", "--backend", backend, says=("d.csv:3", "b", "1e+39"))
            self.file("d.csv", "a,b,y\n0,0,0\n0,1,1e39\n")
            self.refused_data("evaluate", "m", "d.csv", "--backend", backend, says=("d.csv:3", "y", "1e+39"))

    def test_a_value_not_seen_in_training(self):
        self.works("train", "flowers.csv", "--target", "kind", "-o", "m", "--epochs", "1")
        self.file("d.csv", "length,width,color\n1,2,red\n1,2,green\n")
        self.refused_data("predict", "m", "d.csv", says=("d.csv:3", "color", "green"))
        self.works("train", "flowers.csv", "--target", "kind", "-o", "m", "--epochs", "1", "--unknown", "zero")
        self.assertEqual(len(self.works("predict", "m", "d.csv").out.splitlines()), 3)

    def test_probabilities_of_numbers(self):
        self.works("train", "xor.csv", "--target", "y", "-o", "m", "--epochs", "1")
        self.refused_data("predict", "m", "xor.csv", "--probabilities", says="--probabilities")

    def test_keep_an_unknown_column(self):
        self.refused_data("predict", self.model(), "xor.csv", "--keep", "id", says="id")

    def test_truncated_or_altered_model(self):
        whole = (self.folder / self.model()).read_bytes()
        cuts = {"empty": b"", "short": whole[:5], "cut": whole[:-1], "longer": whole + b"\0",
                "header": whole[:40], "brace": whole[:8] + b"[" + whole[9:],
                "length": b"\xff" * 8 + whole[8:], "format": whole.replace(b'format\\":1', b'format\\":9')}
        for name, content in cuts.items():
            with self.subTest(name):
                self.file("bad.safetensors", content)
                for command in (("predict", "bad.safetensors", "xor.csv"), ("evaluate", "bad.safetensors", "xor.csv"),
                                ("info", "bad.safetensors")):
                    self.refused_data(*command, says="bad.safetensors")

    def test_a_table_in_place_of_the_model(self):
        self.refused_data("predict", "xor.csv", "xor.csv", says="xor.csv")
