// The safetensors format: what is written, and all that is refused.
#include "core/safetensors.hpp"

#include <cmath>
#include <limits>

#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

// A file with this header and this many bytes of zeros behind it.
std::string file_of(const std::string& header, std::size_t data) {
    std::string bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>((header.size() >> (8 * i)) & 0xff);
    return bytes + header + std::string(data, '\0');
}

std::string why(const std::string& bytes) {
    return refusal(Fault::bad_file, [&] { read_safetensors(bytes, "f"); });
}

Safetensors sample() {
    Safetensors content;
    content.metadata["about"] = "a \"test\"";
    content.tensors.push_back({"x", Dtype::f64, {2, 3}, {1, -2, 0.1, 1e300, 5e-324, -0.0}});
    content.tensors.push_back({"y", Dtype::f32, {3}, {0.1, 2, -3}});
    content.tensors.push_back({"none", Dtype::f64, {0, 7}, {}});
    content.tensors.push_back({"one", Dtype::f32, {}, {4}});
    return content;
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape, const std::string& at) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + at + "}";
}

}  // namespace

TEST_CASE("safetensors: round trip") {
    const auto bytes = write_safetensors(sample());
    CHECK(bytes == write_safetensors(sample()));
    const auto header = static_cast<unsigned char>(bytes[0]) + 256u * static_cast<unsigned char>(bytes[1]);
    CHECK(header % 8 == 0);
    CHECK(bytes.size() == 8 + header + 6 * 8 + 3 * 4 + 4);
    auto back = read_safetensors(bytes, "f");
    CHECK(back.metadata == sample().metadata);
    REQUIRE(back.tensors.size() == 4);
    CHECK(back.tensors[0].values == sample().tensors[0].values);
    CHECK(std::signbit(back.tensors[0].values[5]));
    CHECK(back.tensors[0].shape == std::vector<std::uint64_t>{2, 3});
    CHECK(write_safetensors(back) != "");
    for (const auto& t : back.tensors) {
        if (t.name == "y") CHECK(t.values[0] == static_cast<double>(0.1f));
    }
}

TEST_CASE("safetensors: values that are not finite are not written") {
    for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        Safetensors content;
        content.tensors.push_back({"x", Dtype::f64, {1}, {value}});
        CHECK_MENTIONS(refusal(Fault::bad_data, [&] { write_safetensors(content); }),
                       "tensor x holds " + to_text(value));
    }
    Safetensors content;
    content.tensors.push_back({"x", Dtype::f32, {1}, {1e300}});
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { write_safetensors(content); }), "1e+300");
}

TEST_CASE("safetensors: what is refused") {
    CHECK(why("1234567") == "f: it has 7 bytes, too short for a model.");
    CHECK_MENTIONS(why(std::string(8, '\xff')),
                   "is this a model? It does not begin as one does: its header would be 18446744073709551615 bytes");
    CHECK_MENTIONS(why(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)), "100000001 bytes long, over the limit");
    CHECK_MENTIONS(why(std::string("\x05\0\0\0\0\0\0\0{}", 10)), "ends inside its header of 5 bytes");
    CHECK_MENTIONS(why(file_of("[1]", 0)), "does not begin with '{'");
    CHECK_MENTIONS(why(file_of("", 0)), "does not begin with '{'");
    CHECK_MENTIONS(why(file_of("{\"a\"}", 0)), "its header is not JSON");
    CHECK_MENTIONS(why(file_of("{\"\xff\":1}", 0)), "its header is not JSON");
    CHECK_MENTIONS(why(file_of("{} x", 0)), "its header is not JSON");
    CHECK_MENTIONS(why(file_of("{\"a\":1}", 0)), "a is not an object");
    CHECK_MENTIONS(why(file_of("{\"__metadata__\":[]}", 0)), "__metadata__ is not an object");
    CHECK_MENTIONS(why(file_of("{\"__metadata__\":{\"k\":1}}", 0)), "__metadata__.k is not a string");
    CHECK(why(file_of("{}", 0)).empty());
    CHECK(why(file_of("{}   ", 0)).empty());
    CHECK_MENTIONS(why(file_of("{}", 1)), "1 byte follow");

    const auto one = [](const std::string& dtype, const std::string& shape, const std::string& at, std::size_t data) {
        return why(file_of("{" + tensor("a", dtype, shape, at) + "}", data));
    };
    CHECK(one("F64", "[2]", "[0,16]", 16).empty());
    CHECK(one("F32", "[]", "[0,4]", 4).empty());
    CHECK_MENTIONS(one("BF16", "[2]", "[0,4]", 4), "a has the type BF16; F32 and F64 are read");
    CHECK_MENTIONS(one("F64", "[2]", "[0,16]", 17), "1 byte follow the last tensor");
    CHECK_MENTIONS(one("F64", "[2]", "[0,16]", 15), "a lies at 0 .. 16 of 15 bytes");
    CHECK_MENTIONS(one("F64", "[2]", "[16,0]", 16), "a lies at 16 .. 0");
    CHECK_MENTIONS(one("F64", "[2]", "[0,8]", 8), "has a shape that does not fill 0 .. 8");
    CHECK_MENTIONS(one("F32", "[2]", "[0,16]", 16), "does not fill");
    CHECK_MENTIONS(one("F64", "[2305843009213693952,8]", "[0,0]", 0), "does not fill");
    CHECK_MENTIONS(one("F64", "[4294967296,4294967296]", "[0,0]", 0), "does not fill");
    CHECK_MENTIONS(one("F64", "[2.0]", "[0,16]", 16), "a.shape[0] is not a whole number");
    CHECK_MENTIONS(one("F64", "[-2]", "[0,16]", 16), "a.shape[0] is not a whole number");
    CHECK_MENTIONS(one("F64", "2", "[0,16]", 16), "a.shape is not a list");
    CHECK_MENTIONS(one("F64", "[2]", "[0]", 16), "a.data_offsets is not a pair");
    CHECK_MENTIONS(one("F64", "[2]", "[8,24]", 24), "a gap before the tensor a");
    CHECK_MENTIONS(one("F64", "[2]", "[0,18446744073709551616]", 16), "data_offsets[1] is not a whole number");
    CHECK_MENTIONS(why(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4)), "a has no \"data_offsets\"");
    CHECK_MENTIONS(why(file_of("{\"a\":{\"dtype\":7,\"shape\":[1]}}", 4)), "a.dtype is not a string");
}

TEST_CASE("safetensors: several tensors cover the file") {
    const auto two = [](const std::string& a, const std::string& b, std::size_t data) {
        return why(file_of("{" + a + "," + b + "}", data));
    };
    const auto a = tensor("a", "F64", "[1]", "[0,8]");
    CHECK(two(tensor("b", "F64", "[1]", "[8,16]"), a, 16).empty());
    CHECK(two(tensor("b", "F64", "[0]", "[0,0]"), a, 8).empty());
    CHECK_MENTIONS(two(a, tensor("b", "F64", "[1]", "[4,12]"), 12), "b overlaps");
    CHECK_MENTIONS(two(a, tensor("b", "F64", "[1]", "[0,8]"), 8), "overlaps");
    CHECK_MENTIONS(two(a, tensor("b", "F64", "[1]", "[16,24]"), 24), "gap before the tensor b");
    CHECK_MENTIONS(two(a, tensor("a", "F64", "[1]", "[8,16]"), 16), "the key \"a\" twice");
}

TEST_CASE("safetensors: values that are not finite are refused") {
    auto bytes = file_of("{" + tensor("a", "F32", "[2]", "[0,8]") + "}", 8);
    bytes[bytes.size() - 1] = '\x7f';
    bytes[bytes.size() - 2] = '\x80';
    CHECK(why(bytes) == "f: value 1 of the tensor a is inf.");
}

TEST_CASE("safetensors: files that are not there") {
    const Directory here;
    CHECK_MENTIONS(refusal(Fault::bad_file, [&] { read_file(here.file("no")); }), "No such file or directory");
    CHECK_MENTIONS(refusal(Fault::bad_file, [&] { read_file(here.file("")); }), "Is a directory");
    put(here.file("empty"), "");
    CHECK(read_file(here.file("empty")).empty());
}
