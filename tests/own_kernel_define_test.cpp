// Kernels of a program's own: definitions, and what is wrong with them.
#include "own_kernels.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

// A ninth number is refused when the program is compiled.
template <typename T>
concept takes_eight = requires {
    T{.n = {1, 2, 3, 4, 5, 6, 7, 8}, .f = {1, 2, 3, 4, 5, 6, 7, 8}};
};
template <typename T>
concept takes_nine_n = requires {
    T{.n = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
};
template <typename T>
concept takes_nine_f = requires {
    T{.f = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
};

}  // namespace

TEST_CASE("own kernels: a ninth number does not compile") {
    CHECK(takes_eight<gpu::Numbers>);
    CHECK(!takes_nine_n<gpu::Numbers>);
    CHECK(!takes_nine_f<gpu::Numbers>);
}

TEST_CASE("own kernels: the same definition twice is fine on any card, another text is an error") {
    if (!have_card()) return;
    const auto gpu = gpu::open(), other = gpu::open();
    gpu.define("test_twice", {"w:y"}, 1, "y[id.x] = 1.0;");
    gpu.define("test_twice", {"w:y"}, 1, "y[id.x] = 1.0;");
    other.define("test_twice", {"w:y"}, 1, "y[id.x] = 1.0;");
    const std::string taken = "The kernel 'test_twice' is defined already, with another text.";
    CHECK(refusal([&] { other.define("test_twice", {"w:y"}, 1, "y[id.x] = 2.0;"); }) == taken);
    CHECK(refusal([&] { gpu.define("test_twice", {"w:y"}, 2, "y[id.x] = 1.0;"); }) == taken);
    CHECK(refusal([&] { gpu.define("test_twice", {"w:y", "r:z"}, 1, "y[id.x] = 1.0;"); }) == taken);
    CHECK(refusal([&] { gpu.define("test_twice", {"w:y"}, 1, "y[id.x] = 1.0;", "const a = 1;"); }) == taken);
    const auto y = other.buffer(256);  // the first one stays, for every card of the process
    other.dispatch("test_twice", {y}, {}, 64);
    CHECK(y.read<float>() == Floats(64, 1.0f));
}

TEST_CASE("own kernels: names of shunt's own kernels can be neither defined nor dispatched") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    CHECK(refusal([&] { gpu.define("matmul", {"w:y"}, 1, "y[id.x] = 1.0;"); }) ==
          "The kernel name 'matmul' is taken by one of shunt's own.");
    CHECK(refusal([&] { gpu.dispatch("matmul", {}, {}, 1); }) ==
          "There is no kernel 'matmul' of the program's own: that one is shunt's.");
    CHECK(refusal([&] { gpu.dispatch("test_nobody", {}, {}, 1); }) ==
          "There is no kernel 'test_nobody': define it first.");
}

TEST_CASE("own kernels: bindings, dimensions and names that cannot be are one error each") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    const auto defined = [&](const std::vector<std::string>& bindings, int dimensions = 1) {
        return refusal([&] { gpu.define("test_bad", bindings, dimensions, ""); });
    };
    for (const char* bad : {"", "r", "r:", "y", "q:x", "rw:x", "r:2x", "r:a b", "r:_", "r:__x", "r:x;"}) {
        INFO(bad);
        CHECK(defined({bad}).find("The binding '" + std::string(bad) + "' is not r, w (f32), u or x (u32)") == 0);
    }
    for (const char* taken : {"r:id", "w:p", "x:main"}) {
        CHECK(defined({taken}).find("A binding cannot be named") == 0);
    }
    CHECK(defined({"r:x", "w:x"}) == "The bindings 'r:x' and 'w:x' have one name.");
    CHECK(defined({"r:x"}, 3) == "A kernel has 1 or 2 dimensions; given are 3.");
    CHECK(refusal([&] { gpu.define("", {"r:x"}, 1, ""); }) == "A kernel needs a name.");
    CHECK(defined({"r:var"}).find("Its binding r:var.") != std::string::npos);
    const std::string nine = defined({"r:a", "r:b", "r:c", "r:d", "r:e", "r:f", "r:g", "r:h", "w:i"});
    CHECK(nine.find("The kernel 'test_bad' has 9 bindings; the card ") == 0);
    CHECK(nine.find(" takes at most 8.") != std::string::npos);
    gpu.define("test_eight", {"r:a", "r:b", "r:c", "r:d", "r:e", "r:f", "r:g", "w:h"}, 1,
               "h[id.x] = a[0] + b[0] + c[0] + d[0] + e[0] + f[0] + g[0];");
    std::vector<gpu::Argument> eight;
    for (float i = 0; i < 7; i++) eight.push_back(gpu.buffer(Floats{i}));
    const auto sum = gpu.buffer(4);
    eight.push_back(sum);
    gpu.dispatch("test_eight", eight, {}, 1);
    CHECK(sum.read<float>() == Floats{21});
}

TEST_CASE("own kernels: a mistake in the WGSL is told with the shader's message and the program's own line") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    const auto defined = [&](const std::string& body, const std::string& functions = "") {
        return refusal([&] { gpu.define("test_wrong", {"r:x", "w:y"}, 1, body, functions); });
    };
    CHECK(defined("y[id.x] = z;") ==
          "The kernel 'test_wrong' does not compile: no definition in scope for identifier: `z` (unknown identifier). "
          "Line 1 of its body: y[id.x] = z;");
    CHECK(defined("if (id.x >= p.n0) { return; }\n\n  let a = 1.0 +;\n  y[id.x] = a;\n", "fn f() {}\n") ==
          "The kernel 'test_wrong' does not compile: expected expression, found \";\". "
          "Line 3 of its body: let a = 1.0 +;");
    CHECK(defined("y[id.x] = f(1.0);", "\nfn f(a: f32) -> f32 {\n    return a + b;\n}") ==
          "The kernel 'test_wrong' does not compile: no definition in scope for identifier: `b` (unknown identifier). "
          "Line 3 of its functions: return a + b;");
    // What only validation finds: a write to what is read.
    const std::string written = defined("let a = 1.0;\nx[id.x] = a;");
    CHECK(written.find("writing to this location is not permitted") != std::string::npos);
    CHECK(written.find("Line 2 of its body: x[id.x] = a;") != std::string::npos);
    CHECK(defined("if (id.x > 0u) {\n").find("After the last line of its body.") != std::string::npos);
    CHECK(defined("y[0] = f();", "fn f() -> f32 {").find("After the last line of its functions.") != std::string::npos);
    // The name is still free.
    gpu.define("test_wrong", {"r:x", "w:y"}, 1, "y[id.x] = x[id.x]; // its end");
}

TEST_CASE("own kernels: bodies that end in a comment, return early or name things as shunt does compile") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    const auto y = gpu.buffer(256);
    gpu.define("test_names", {"w:y"}, 1,
               "let group = id.x;\nlet Params = 2.0;\nlet id = vec2<u32>(group, 0u);\n"
               "y[id.x] = Params;\nreturn; // done");
    gpu.dispatch("test_names", {y}, {}, 64);
    CHECK(y.read<float>() == Floats(64, 2.0f));
}
