#!/usr/bin/env python3
"""The convolutions of ONNX models: as a list, and timed by ONNX Runtime.

    onnx_convolutions.py list MODEL.onnx 1x3x736x736 > det.txt
    onnx_convolutions.py time det.txt [rec.txt ...] [--provider WebGpuExecutionProvider]

A line of a list: n c h w  filters kh kw  stride_h stride_w  pad_h pad_w  dilation_h dilation_w  groups. Other
operators are left out (transposed convolutions too), as are biases.

Timed on resident tensors: all convolutions of the list once, and 11 times, in one model each; the difference over ten is
free of transfers, of what a run costs and of reading the results. The graph is not optimised, or equal work would be
done once. Both layouts are tried where the provider has two: with NHWC the transposes around each are included. What
is compared with it is `bench/convolutions_of LIST`.
"""
import argparse
import statistics
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

REPEATS = 11


def list_convolutions(path, shape):
    import onnxruntime

    model = onnx.load(path)
    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    known = {output.name for output in model.graph.output} | {model.graph.input[0].name}
    for name in dict.fromkeys(node.input[0] for node in convolutions):
        if name not in known:
            model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    x = np.random.default_rng(1).random(shape, dtype=np.float32)
    shapes = {name: value.shape for name, value in zip(names, session.run(names, {session.get_inputs()[0].name: x}))}
    shapes[session.get_inputs()[0].name] = tuple(shape)
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            weights[node.output[0]] = tuple(node.attribute[0].t.dims)
    for node in convolutions:
        options = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        filters, _, kh, kw = weights[node.input[1]]
        top, left, bottom, right = options.get("pads", [0, 0, 0, 0])
        if top != bottom or left != right:
            sys.exit(f"{path}: {node.name} pads its sides differently.")
        numbers = [*shapes[node.input[0]], filters, kh, kw, *options.get("strides", [1, 1]), top, left,
                   *options.get("dilations", [1, 1]), options.get("group", 1)]
        print(*numbers)


def model_of(lines, repeats):
    """The convolutions, so many times; of each repeat only the last result is an output."""
    random = np.random.default_rng(1)
    nodes, weights, inputs, outputs = [], [], {}, []
    for i, line in enumerate(lines):
        n, c, h, w, filters, kh, kw, sh, sw, ph, pw, dh, dw, groups = line
        x = f"x{n}x{c}x{h}x{w}"
        inputs[x] = (n, c, h, w)
        values = random.standard_normal((filters, c // groups, kh, kw)).astype(np.float32)
        weights.append(helper.make_tensor(f"w{i}", TensorProto.FLOAT, values.shape, values.tobytes(), raw=True))
        for r in range(repeats):
            nodes.append(helper.make_node("Conv", [x, f"w{i}"], [f"y{i}_{r}"], strides=[sh, sw], pads=[ph, pw, ph, pw],
                                          dilations=[dh, dw], group=groups))
    outputs = [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "convolutions",
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, s) for x, s in inputs.items()],
                              outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString(), inputs


def seconds_of(lines, repeats, provider, options):
    import onnxruntime

    model, inputs = model_of(lines, repeats)
    how = onnxruntime.SessionOptions()
    how.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    how.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, how, providers=[(provider, options)])
    if session.get_providers()[0] != provider:
        sys.exit(f"ONNX Runtime does not take {provider}: {session.get_providers()}.")
    random = np.random.default_rng(2)
    feed = {name: random.random(shape, dtype=np.float32) for name, shape in inputs.items()}
    times = []
    for i in range(9 + 2):
        start = time.perf_counter()
        session.run(None, feed)
        if i >= 2:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def time_lists(paths, provider):
    layouts = [{}] if provider == "CPUExecutionProvider" else [{"preferredLayout": l} for l in ("NCHW", "NHWC")]
    for path in paths:
        with open(path) as file:
            lines = [[int(number) for number in line.split()] for line in file if line.strip()]
        for layout in layouts:
            once = seconds_of(lines, 1, provider, layout)
            often = seconds_of(lines, REPEATS, provider, layout)
            each = (often - once) / (REPEATS - 1)
            print(f"{path}: {len(lines)} convolutions by ONNX Runtime {provider} {' '.join(layout.values())}: "
                  f"{1e6 * each:.1f} us (one run of them {1e3 * once:.2f} ms)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("list")
    one.add_argument("model")
    one.add_argument("shape", type=lambda text: [int(size) for size in text.split("x")])
    many = commands.add_parser("time")
    many.add_argument("lists", nargs="+")
    many.add_argument("--provider", default="WebGpuExecutionProvider")
    given = parser.parse_args()
    if given.command == "list":
        list_convolutions(given.model, given.shape)
    else:
        time_lists(given.lists, given.provider)


if __name__ == "__main__":
    main()
