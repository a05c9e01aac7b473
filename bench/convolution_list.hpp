// Lists of convolutions, as bench/peers/onnx_convolutions.py writes them.
#pragma once

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "shunt/backend.hpp"

namespace shunt::bench {

// One convolution's tensors on a backend.
struct Listed {
    std::string line;
    Tensor x, weight;
    Conv2dOptions options;  // with where the result goes
};

// `line`: n c h w  filters kh kw  stride_h stride_w  pad_h pad_w  dilation_h dilation_w  groups.
inline Listed listed(Backend& backend, const std::string& line) {
    std::istringstream in(line);
    std::size_t n, c, h, w, filters, kh, kw;
    Listed made{.line = line};
    Conv2dOptions& o = made.options;
    in >> n >> c >> h >> w >> filters >> kh >> kw >> o.stride[0] >> o.stride[1] >> o.pad[0] >> o.pad[1] >>
        o.dilation[0] >> o.dilation[1] >> o.groups;
    if (!in || o.groups == 0) throw Error(Fault::bad_data, "'" + line + "' is not 14 numbers of a convolution.");
    const auto values = [&](const Shape& shape) {
        std::vector<float> list(shape.size());
        for (std::size_t i = 0; i < list.size(); i++) list[i] = static_cast<float>(i * 7 % 13) - 6;
        return backend.upload(list, shape);
    };
    made.x = values({n, c, h, w});
    made.weight = values({filters, c / o.groups, kh, kw});
    o.out = backend.conv2d(made.x, made.weight, o);
    return made;
}

// `once`: equal lines count as one.
inline std::vector<Listed> read_list(Backend& backend, const std::string& path, bool once = false) {
    std::ifstream in(path);
    if (!in) throw Error(Fault::bad_file, path + " cannot be read.");
    std::vector<Listed> all;
    std::set<std::string> seen;
    for (std::string line; std::getline(in, line);) {
        const bool is_new = seen.insert(line).second;
        if (!line.empty() && (is_new || !once)) all.push_back(listed(backend, line));
    }
    return all;
}

}  // namespace shunt::bench
