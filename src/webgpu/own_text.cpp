// See own_text.hpp.
#include "webgpu/own_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "core/text.hpp"
#include "shunt/error.hpp"

namespace shunt::webgpu {
namespace {

// In front of the program's lines. The numbers of the grid are ours: groups are numbered along x, y
// and z of a folded grid and laid out again as the program asked, `shunt_across` to a row. The names
// are such that no program has them.
constexpr std::string_view params =
    "struct shunt_params { n0: u32, n1: u32, n2: u32, n3: u32, n4: u32, n5: u32, n6: u32, n7: u32, "
    "f0: f32, f1: f32, f2: f32, f3: f32, f4: f32, f5: f32, f6: f32, f7: f32, "
    "shunt_across: u32, shunt_groups: u32 }\n";

std::string entry(int dimensions) {
    const std::string size_x = dimensions == 1 ? "64u" : "8u", size_y = dimensions == 1 ? "1u" : "8u";
    return "@compute @workgroup_size(" + size_x + ", " + size_y +
           ")\n"
           "fn main(@builtin(workgroup_id) shunt_group: vec3<u32>, @builtin(num_workgroups) shunt_grid: vec3<u32>,\n"
           "        @builtin(local_invocation_id) shunt_lane: vec3<u32>) {\n"
           "    let shunt_number = (shunt_group.z * shunt_grid.y + shunt_group.y) * shunt_grid.x + shunt_group.x;\n"
           "    if (shunt_number >= p.shunt_groups) { return; }\n"
           "    let id = vec3<u32>(shunt_number % p.shunt_across * " +
           size_x + " + shunt_lane.x,\n        shunt_number / p.shunt_across * " + size_y +
           " + shunt_lane.y, 0u);\n"
           "    {\n";
}

std::size_t lines_in(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string_view trimmed(std::string_view s) {
    const auto first = s.find_first_not_of(" \t\r\n");
    return first == s.npos ? std::string_view{} : s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

// Line `number`, from 1.
std::string_view line_of(std::string_view text, std::size_t number) {
    for (; number > 1; number--) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    return trimmed(text.substr(0, text.find('\n')));
}

bool is_name(std::string_view s) {
    const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    return !s.empty() && s != "_" && !s.starts_with("__") && !std::isdigit(static_cast<unsigned char>(s[0])) &&
           std::ranges::all_of(s, fits);
}

Binding parsed(const std::string& text) {
    const std::string_view access = std::string_view(text).substr(0, 2),
                           variable = std::string_view(text).substr(std::min<std::size_t>(2, text.size()));
    if ((access != "r:" && access != "w:" && access != "u:" && access != "x:") || !is_name(variable)) {
        throw Error(Fault::bad_argument,
                    "The binding '" + text + "' is not r, w (f32), u or x (u32), a colon and a name, like 'r:prices'.");
    }
    if (variable == "id" || variable == "p" || variable == "main") {
        throw Error(Fault::bad_argument, "A binding cannot be named '" + std::string(variable) +
                                             "': the body has that name already. Given is '" + text + "'.");
    }
    return {text, access == "r:" || access == "w:" ? Type::f32 : Type::u32, access == "w:" || access == "x:"};
}

// What WebGPU says of a text, without the frame of ours around it:
//
//     Caused by:
//       In wgpuDeviceCreateShaderModule, label = 'mine'
//     Shader 'mine' parsing error: no definition in scope for identifier: `z`
//        ┌─ wgsl:14:11
//     14 │ y[id.x] = z;
//        │           ^ unknown identifier
struct Diagnosis {
    std::string what;      // "no definition in scope for identifier: `z` (unknown identifier)"
    std::size_t line = 0;  // 14, from 1; 0: none is named
};

void strip_to(std::string_view& s, std::string_view end_of_prefix) {
    if (const auto at = s.find(end_of_prefix); at != s.npos) s.remove_prefix(at + end_of_prefix.size());
}

std::size_t line_in(std::string_view place) {  // "wgsl:14:11"
    const std::string_view upto = place.substr(0, std::min(place.rfind(':'), place.size()));
    return static_cast<std::size_t>(to_number(upto.substr(upto.rfind(':') + 1)).value_or(0));
}

Diagnosis diagnosis_of(std::string_view message) {
    constexpr std::string_view corner = "┌─", bar = "│";
    Diagnosis d;
    std::string label;
    strip_to(message, "label = ");
    message = message.substr(0, message.rfind(" - While"));
    strip_to(message, "\n");
    while (!message.empty()) {
        std::string_view line = trimmed(message.substr(0, message.find('\n')));
        message.remove_prefix(std::min(message.find('\n'), message.size() - 1) + 1);
        if (line.starts_with(corner)) {
            if (d.line == 0) d.line = line_in(line);
        } else if (line.starts_with(bar)) {
            if (const auto at = line.rfind('^'); label.empty() && at != line.npos) label = trimmed(line.substr(at + 1));
        } else if (!line.empty() && line.find(bar) == line.npos && !line.starts_with('=')) {
            strip_to(line, "parsing error: ");
            strip_to(line, "validation error: ");
            d.what += (d.what.empty() ? "" : ": ") + std::string(line);
        }
    }
    const bool tells = label != "see msg" && !label.starts_with("naga::") && d.what.find(label) == d.what.npos;
    if (tells) d.what += " (" + label + ")";
    return d;
}

}  // namespace

OwnKernel own_kernel(std::string_view name, const Definition& d) {
    if (name.empty()) throw Error(Fault::bad_argument, "A kernel needs a name.");
    if (d.dimensions != 1 && d.dimensions != 2) {
        throw Error(Fault::bad_argument,
                    "A kernel has 1 or 2 dimensions; given are " + std::to_string(d.dimensions) + ".");
    }
    OwnKernel kernel{.name = std::string(name), .definition = d};
    kernel.text = params;
    for (const std::string& text : d.bindings) {
        const Binding b = parsed(text);
        for (const Binding& other : kernel.bindings) {
            if (other.text.substr(2) != text.substr(2)) continue;
            throw Error(Fault::bad_argument, "The bindings '" + other.text + "' and '" + text + "' have one name.");
        }
        kernel.text += "@group(0) @binding(" + std::to_string(kernel.bindings.size()) + ") var<storage, " +
                       (b.written ? "read_write" : "read") + "> " + text.substr(2) + ": array<" +
                       (b.type == Type::f32 ? "f32" : "u32") + ">;\n";
        kernel.layout.push_back(b.written ? WGPUBufferBindingType_Storage : WGPUBufferBindingType_ReadOnlyStorage);
        kernel.bindings.push_back(b);
    }
    kernel.text += "@group(0) @binding(" + std::to_string(kernel.bindings.size()) + ") var<uniform> p: shunt_params;\n";
    kernel.layout.push_back(WGPUBufferBindingType_Uniform);
    kernel.functions_line = lines_in(kernel.text) + 1;
    kernel.text += d.functions + "\n" + entry(d.dimensions);
    kernel.body_line = lines_in(kernel.text) + 1;
    kernel.text += d.body + "\n    }\n}\n";
    return kernel;
}

std::string OwnKernel::explain(std::string_view message) const {
    const Diagnosis d = diagnosis_of(message);
    const std::size_t functions_end = functions_line + lines_in(definition.functions) + 1,
                      body_end = body_line + lines_in(definition.body) + 1, at = d.line;
    const auto quoted = [&](const char* part, const std::string& lines, std::size_t number) {
        return " Line " + std::to_string(number) + " of its " + part + ": " + std::string(line_of(lines, number));
    };
    std::string place;
    if (at >= body_end) {
        place = " After the last line of its body.";
    } else if (at >= body_line) {
        place = quoted("body", definition.body, at - body_line + 1);
    } else if (at >= functions_end && !definition.functions.empty()) {
        place = " After the last line of its functions.";
    } else if (at >= functions_line && at < functions_end) {
        place = quoted("functions", definition.functions, at - functions_line + 1);
    } else if (at >= 2 && at < 2 + bindings.size()) {
        place = " Its binding " + bindings[at - 2].text + ".";
    }
    return "The kernel '" + name + "' does not compile: " + d.what + "." + place;
}

}  // namespace shunt::webgpu
