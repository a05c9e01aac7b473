// .npy, .npz, IDX and label files: what is read, and every input that is refused.
#include <doctest/doctest.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "data/formats.hpp"
#include "shunt/data.hpp"

using namespace shunt;

namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

struct TempFile {
    std::string path;
    explicit TempFile(const std::string& name, const std::string& bytes = {})
        : path((std::filesystem::temp_directory_path() / ("shunt_data_arrays_" + std::to_string(getpid()) + "_" + name))
                   .string()) {
        if (!bytes.empty()) std::ofstream(path, std::ios::binary) << bytes;
    }
    ~TempFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
};

template <class T>
std::string raw(const std::vector<T>& items, bool swap = false) {
    std::string bytes;
    for (const T item : items) {
        char one[sizeof(T)];
        std::memcpy(one, &item, sizeof(T));
        if (swap) std::reverse(one, one + sizeof(T));
        bytes.append(one, sizeof(T));
    }
    return bytes;
}

std::string npy_of_header(const std::string& header, const std::string& items, char version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += version;
    bytes += '\0';
    for (std::size_t k = 0; k < (version == 1 ? 2 : 4); ++k) bytes += static_cast<char>(header.size() >> 8 * k & 255);
    return bytes + header + items;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& items, bool fortran = false) {
    return npy_of_header("{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                             ", 'shape': " + shape + ", }  \n",
                         items);
}

std::string idx(int type, const std::vector<std::uint32_t>& sizes, const std::string& items) {
    return std::string{0, 0, static_cast<char>(type), static_cast<char>(sizes.size())} + raw(sizes, true) + items;
}

Table parse(const std::string& bytes, const ReadOptions& options = {}, const std::string& source = "t.npy") {
    return parse_table(bytes, source, options);
}

std::string refusal(const std::string& bytes, Fault fault, const ReadOptions& options = {},
                    const std::string& source = "t.npy") {
    try {
        parse(bytes, options, source);
    } catch (const Error& error) {
        CHECK(error.fault() == fault);
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<Numbers> columns_of(const Table& table) {
    std::vector<Numbers> all;
    for (const Column& column : table.columns) all.push_back(column.numbers);
    return all;
}

Names names_of(const Table& table) {
    Names all;
    for (const Column& column : table.columns) all.push_back(column.name);
    return all;
}

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string npz(const Entries& entries, zip_int32_t method = ZIP_CM_DEFLATE) {
    const TempFile file("made.npz");
    zip_t* const archive = zip_open(file.path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const auto& [name, bytes] : entries) {
        zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
        const zip_int64_t i = zip_file_add(archive, name.c_str(), source, 0);
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(i), method, 0);
    }
    REQUIRE(zip_close(archive) == 0);
    std::ifstream in(file.path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

const std::string three_by_two = npy("<f8", "(3, 2)", raw<double>({1, 2, 3, 4, 5, 6}));
const std::string three = npy("<i8", "(3,)", raw<std::int64_t>({7, 8, 7}));

}  // namespace

TEST_CASE("npy: rows are rows") {
    const Table t = parse(three_by_two);
    CHECK(t.source == "t.npy");
    CHECK(t.rows == 3);
    CHECK(t.lines.empty());
    CHECK(names_of(t) == Names{"c1", "c2"});
    CHECK(columns_of(t) == std::vector<Numbers>{{1, 3, 5}, {2, 4, 6}});
    CHECK(t.place(1) == "t.npy, row 2");
}

TEST_CASE("npy: one dimension is one column") {
    CHECK(columns_of(parse(three)) == std::vector<Numbers>{{7, 8, 7}});
}

TEST_CASE("npy: Fortran order is the same table") {
    const std::string bytes = npy("<f4", "(3, 2)", raw<float>({1, 3, 5, 2, 4, 6}), true);
    CHECK(columns_of(parse(bytes)) == std::vector<Numbers>{{1, 3, 5}, {2, 4, 6}});
}

TEST_CASE("npy: more dimensions are flattened with the last one fastest, in both orders") {
    // a[i][j][k] = 100 i + 10 j + k
    std::vector<std::int16_t> c, f;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 4; ++k) c.push_back(static_cast<std::int16_t>(100 * i + 10 * j + k));
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 2; ++i) f.push_back(static_cast<std::int16_t>(100 * i + 10 * j + k));
    const Table in_c = parse(npy("<i2", "(2, 3, 4)", raw(c)));
    REQUIRE(in_c.columns.size() == 12);
    CHECK(in_c.columns[6].numbers == Numbers{12, 112});
    CHECK(columns_of(parse(npy("<i2", "(2, 3, 4)", raw(f), true))) == columns_of(in_c));
}

TEST_CASE_TEMPLATE("npy: every type, of either byte order", T, float, double, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
    const std::string type = (std::is_floating_point_v<T> ? "f"
                              : std::is_signed_v<T>       ? "i"
                                                          : "u") +
                             std::to_string(sizeof(T));
    const std::vector<T> items = {std::numeric_limits<T>::lowest(), T(1), T(100), std::numeric_limits<T>::max()};
    const Numbers expected = {double(items[0]), 1, 100, double(items[3])};
    for (const std::string order : {"<", ">", "|", "=", ""}) {
        CAPTURE(order);
        CHECK(parse(npy(order + type, "(4,)", raw(items, order == ">"))).columns[0].numbers == expected);
    }
}

TEST_CASE("npy: booleans are 0 and 1") {
    CHECK(parse(npy("|b1", "(3,)", std::string("\0\1\1", 3))).columns[0].numbers == Numbers{0, 1, 1});
}

TEST_CASE("npy: versions 2 and 3 have a longer header") {
    const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
    for (const char version : {char(2), char(3)})
        CHECK(parse(npy_of_header(header, raw<double>({4}), version)).columns[0].numbers == Numbers{4});
    CHECK(contains(refusal(npy_of_header(header, raw<double>({4}), 4), Fault::unsupported), "version 4"));
    CHECK(contains(refusal(npy_of_header(header, raw<double>({4}), 0), Fault::unsupported), "version 0"));
}

TEST_CASE("npy: a header in another order, with other quotes and Python 2's long integers") {
    const std::string header = "{\"shape\":(2L,1L),\"fortran_order\":False,\"descr\":\"<f8\"}";
    CHECK(parse(npy_of_header(header, raw<double>({4, 5}))).columns[0].numbers == Numbers{4, 5});
}

TEST_CASE("npy: uint8 pictures are x/255, other uint8 arrays and other pictures are not") {
    const std::string bytes = raw<std::uint8_t>({0, 51, 255, 102});
    CHECK(columns_of(parse(npy("|u1", "(1, 2, 2)", bytes))) ==
          std::vector<Numbers>{{0}, {51 / 255.0}, {1}, {102 / 255.0}});
    CHECK(columns_of(parse(npy("|u1", "(2, 2)", bytes))) == std::vector<Numbers>{{0, 255}, {51, 102}});
    CHECK(parse(npy("|i1", "(1, 2, 2)", bytes)).columns[1].numbers == Numbers{51});
}

TEST_CASE("npy: NaN is missing, an infinity is refused with row and column") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const Table t = parse(npy("<f8", "(2, 2)", raw<double>({1, nan, 3, 4})));
    CHECK(t.columns[1].n_missing() == 1);
    CHECK(t.columns[0].n_missing() == 0);
    CHECK(refusal(npy("<f8", "(2, 2)", raw<double>({1, 2, 3, -inf})), Fault::bad_data) ==
          "t.npy, row 2, column \"c2\": -inf is not a finite number.");
    CHECK(contains(refusal(npy("<f4", "(2,)", raw<float>({1, float(inf)})), Fault::bad_data),
                   "row 2, column \"c1\": inf"));
}

TEST_CASE("npy: types that are not read are refused by name") {
    for (const std::string type : {"<f2", "<c8", "|O", "<U5", "|S3", "<M8[ns]", "<f16", "f", "", "<i3", "<b1x"}) {
        CAPTURE(type);
        CHECK(contains(refusal(npy(type, "(1,)", "0123456789abcdef"), Fault::unsupported),
                       "items of type \"" + type + "\""));
    }
    const std::string records = "{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,)}";
    CHECK(contains(refusal(npy_of_header(records, "0123456789ab"), Fault::unsupported), "records of several fields"));
}

TEST_CASE("npy: truncated at any byte, and lengthened") {
    for (std::size_t n = 6; n < three_by_two.size(); ++n) {
        CAPTURE(n);
        CHECK(refusal(three_by_two.substr(0, n), Fault::bad_file) != "");
    }
    CHECK(refusal(three_by_two.substr(0, three_by_two.size() - 1), Fault::bad_file) ==
          "t.npy is truncated: 3 × 2 items need 48 bytes, and 47 are there.");
    CHECK(refusal(three_by_two + "x", Fault::bad_file) == "t.npy has 1 byte after its 3 × 2 items.");
}

TEST_CASE("npy: shapes too large for any file, or for any number") {
    for (const std::string shape : {"(4294967296, 4294967296)", "(18446744073709551615,)", "(2305843009213693952, 1)",
                                    "(1000000000000,)", "(3, 4294967296, 4294967296)"}) {
        CAPTURE(shape);
        CHECK(contains(refusal(npy("<f8", shape, "12345678"), Fault::bad_file), "is truncated"));
    }
    CHECK(contains(refusal(npy("|u1", "(1, 1000001)", std::string(1000001, 'x')), Fault::bad_data), "1000001 columns"));
}

TEST_CASE("npy: no rows, no columns, no dimensions") {
    CHECK(refusal(npy("<f8", "(0, 4)", ""), Fault::bad_data) == "t.npy is empty: its shape is 0 × 4.");
    CHECK(contains(refusal(npy("<f8", "(5, 0)", ""), Fault::bad_data), "is empty"));
    CHECK(contains(refusal(npy("<f8", "(0, 18446744073709551615, 18446744073709551615)", ""), Fault::bad_data),
                   "is empty"));
    CHECK(contains(refusal(npy("<f8", "()", "12345678"), Fault::bad_data), "a single number"));
}

TEST_CASE("npy: damaged headers are refused as such") {
    const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
    for (const std::string header :
         {"", "{", "{}", "x", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
          "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (1,}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
          "{'descr': '<f8, 'fortran_order': False, 'shape': (1,)}",
          "{descr: '<f8', 'fortran_order': False, 'shape': (1,)}"}) {
        CAPTURE(header);
        CHECK(contains(refusal(npy_of_header(header, "12345678"), Fault::bad_file), "header is damaged"));
    }
    CHECK(parse(npy_of_header(good, "12345678")).rows == 1);
    std::string dimensions = "(";
    for (int i = 0; i < 65; ++i) dimensions += "1,";
    CHECK(contains(refusal(npy("<f8", dimensions + ")", "12345678"), Fault::bad_file), "header is damaged"));
}

TEST_CASE("npy: a name that promises another format than the bytes hold") {
    CHECK(refusal("a,b\n1,2\n", Fault::bad_file) == "t.npy is no .npy file: it does not begin as one.");
    CHECK(contains(refusal("a,b\n1,2\n", Fault::bad_file, {}, "t.npz"), "is no .npz file"));
    CHECK(contains(refusal("a,b\n1,2\n", Fault::bad_file, {}, "t-idx1-ubyte"), "is no IDX file"));
    CHECK(parse(three_by_two, {}, "t.bin").rows == 3);  // the bytes are what counts
    CHECK(contains(refusal("", Fault::bad_data), "is empty"));
}

TEST_CASE("npy: categorical columns are named by their numbers") {
    const Table t =
        parse(npy("<f8", "(4, 2)", raw<double>({1, 2, 1.5, std::nan(""), 1, 2, 3, 7})), {.categorical = {"c1", "2"}});
    CHECK(t.columns[0].kind == ColumnKind::text);
    CHECK(t.columns[0].values == Names{"1", "1.5", "3"});
    CHECK(t.columns[0].codes == std::vector<std::uint32_t>{0, 1, 0, 2});
    CHECK(t.columns[1].codes == std::vector<std::uint32_t>{0, Column::missing, 0, 1});
    CHECK(refusal(three_by_two, Fault::bad_argument, {.categorical = {"c3"}}) ==
          "t.npy has no column \"c3\"; its columns are c1, c2.");
}

TEST_CASE("npy: many rows, past the block that is filled at once") {
    std::vector<float> items;
    for (int i = 0; i < 3 * 1500; ++i) items.push_back(static_cast<float>(i));
    const Table t = parse(npy("<f4", "(1500, 3)", raw(items)));
    for (std::size_t r : {0u, 511u, 512u, 1023u, 1024u, 1499u}) CHECK(t.columns[2].numbers[r] == double(3 * r + 2));
}

TEST_CASE("npy: random arrays come back as they were written, in either order") {
    std::mt19937_64 random(3);
    for (int round = 0; round < 50; ++round) {
        const std::size_t rows = 1 + random() % 700, cols = 1 + random() % 9;
        std::vector<Numbers> columns(cols, Numbers(rows));
        std::vector<double> c(rows * cols), f(rows * cols);
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < cols; ++j) {
                columns[j][i] = c[i * cols + j] = f[j * rows + i] = static_cast<double>(random()) / 1e9;
            }
        }
        const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
        CHECK(columns_of(parse(npy("<f8", shape, raw(c)))) == columns);
        CHECK(columns_of(parse(npy(">f8", shape, raw(f, true), true))) == columns);
    }
}

TEST_CASE("npz: the target by name, the other array is the input") {
    for (const zip_int32_t method : {ZIP_CM_DEFLATE, ZIP_CM_STORE}) {
        const std::string bytes = npz({{"y.npy", three}, {"x.npy", three_by_two}}, method);
        const Table t = parse(bytes, {.target = "y"}, "t.npz");
        CHECK(names_of(t) == Names{"c1", "c2", "y"});
        CHECK(t.column("y").numbers == Numbers{7, 8, 7});
        CHECK(t.column("c2").numbers == Numbers{2, 4, 6});
        CHECK(t.place(2) == "t.npz, row 3");
        CHECK(parse(bytes, {.categorical = {"y"}, .target = "y"}, "t.npz").column("y").values == Names{"7", "8"});
    }
}

TEST_CASE("npz: a target of several columns is numbered") {
    CHECK(names_of(parse(npz({{"x.npy", three}, {"y.npy", three_by_two}}), {.target = "y"})) ==
          Names{"c1", "y1", "y2"});
}

TEST_CASE("npz: a single array needs no name, several do") {
    CHECK(parse(npz({{"x.npy", three_by_two}})).columns.size() == 2);
    const std::string two = npz({{"x.npy", three_by_two}, {"y.npy", three}});
    CHECK(refusal(two, Fault::bad_argument) ==
          "t.npy has the arrays x, y; name the input with --features, and with --target the target, where it is to be "
          "read too.");
    CHECK(names_of(parse(two, {.features = "x"})) == Names{"c1", "c2"});
    const std::string many = npz({{"x.npy", three_by_two}, {"y.npy", three}, {"z.npy", three}});
    CHECK(refusal(many, Fault::bad_argument, {.target = "y"}) ==
          "t.npy has the arrays x, y, z; name the input with --features.");
    CHECK(names_of(parse(many, {.target = "z", .features = "x"})) == Names{"c1", "c2", "z"});
}

TEST_CASE("npz: arrays that are not there, or are both") {
    const std::string two = npz({{"x.npy", three_by_two}, {"y.npy", three}});
    CHECK(refusal(two, Fault::bad_argument, {.target = "w"}) ==
          "t.npy has no array \"w\"; its arrays are x, y, and --target names one of them.");
    CHECK(refusal(two, Fault::bad_argument, {.target = "y", .features = "w"}) ==
          "t.npy has no array \"w\"; its arrays are x, y, and --features names one of them.");
    CHECK(contains(refusal(two, Fault::bad_argument, {.target = "y", .features = "y"}), "both input and target"));
    CHECK(contains(refusal(npz({{"y.npy", three}}), Fault::bad_argument, {.target = "y"}),
                   "no array but the target \"y\""));
}

TEST_CASE("npz: rows that do not agree, names that collide, arrays that are broken") {
    const std::string two_rows = npy("<i8", "(2,)", raw<std::int64_t>({1, 2}));
    CHECK(refusal(npz({{"x.npy", three_by_two}, {"y.npy", two_rows}}), Fault::bad_data, {.target = "y"}) ==
          "t.npy: \"x\" has 3 rows, \"y\" has 2.");
    CHECK(contains(refusal(npz({{"x.npy", three_by_two}, {"c1.npy", three}}), Fault::bad_data, {.target = "c1"}),
                   "cannot be \"c1\""));
    CHECK(contains(refusal(npz({{"x.npy", three_by_two + "x"}}), Fault::bad_file),
                   "t.npy, array \"x\" has 1 byte after"));
    CHECK(contains(refusal(npz({{"sheet.xml", "<a/>"}}), Fault::bad_file), "without an array (.npy)"));
}

TEST_CASE("npz: an altered byte is found by the checksum") {
    std::string bytes = npz({{"x.npy", three_by_two}}, ZIP_CM_STORE);
    const std::size_t at = bytes.find(raw<double>({1, 2, 3}));
    REQUIRE(at != std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    CHECK(contains(refusal(bytes, Fault::bad_file), "array \"x\" cannot be read (CRC error)"));
}

TEST_CASE("npz: a size that the packed bytes cannot have is refused before memory is taken") {
    std::string bytes = npz({{"x.npy", three_by_two}});
    const std::size_t central = bytes.find("PK\x01\x02");
    REQUIRE(central != std::string::npos);
    const std::uint32_t size = 0xfffffff0;
    std::memcpy(bytes.data() + central + 24, &size, 4);
    CHECK(refusal(bytes, Fault::bad_file) != "");
}

TEST_CASE("npz: truncated at any byte") {
    const std::string bytes = npz({{"x.npy", three_by_two}});
    for (std::size_t n = 4; n < bytes.size(); ++n)
        CHECK(contains(refusal(bytes.substr(0, n), Fault::bad_file), "damaged zip file"));
}

TEST_CASE("idx: every type, big-endian") {
    CHECK(parse(idx(0x08, {2}, "\x01\xff")).columns[0].numbers == Numbers{1, 255});
    CHECK(parse(idx(0x09, {2}, "\x01\xff")).columns[0].numbers == Numbers{1, -1});
    CHECK(parse(idx(0x0b, {2}, raw<std::int16_t>({-2, 300}, true))).columns[0].numbers == Numbers{-2, 300});
    CHECK(parse(idx(0x0c, {2}, raw<std::int32_t>({-2, 70000}, true))).columns[0].numbers == Numbers{-2, 70000});
    CHECK(parse(idx(0x0d, {2}, raw<float>({0.5f, -4}, true))).columns[0].numbers == Numbers{0.5, -4});
    CHECK(parse(idx(0x0e, {2, 2}, raw<double>({1, 2, 3, 4}, true))).columns[1].numbers == Numbers{2, 4});
}

TEST_CASE("idx: pictures are x/255") {
    const Table t = parse(idx(0x08, {2, 1, 2}, raw<std::uint8_t>({0, 51, 255, 102})));
    CHECK(columns_of(t) == std::vector<Numbers>{{0, 1}, {51 / 255.0, 102 / 255.0}});
}

TEST_CASE("idx: truncated, lengthened, empty, of an unknown type") {
    const std::string bytes = idx(0x08, {2, 3}, "abcdef");
    CHECK(refusal(bytes.substr(0, 17), Fault::bad_file) ==
          "t.npy is truncated: 2 × 3 items need 6 bytes, and 5 are there.");
    CHECK(refusal(bytes + "g", Fault::bad_file) == "t.npy has 1 byte after its 2 × 3 items.");
    CHECK(contains(refusal(bytes.substr(0, 11), Fault::bad_file), "truncated within its IDX header"));
    CHECK(contains(refusal(idx(0x08, {0, 3}, ""), Fault::bad_data), "is empty: its shape is 0 × 3"));
    CHECK(contains(refusal(idx(0x08, {}, ""), Fault::bad_data), "a single number"));
    CHECK(contains(refusal(idx(0x0e, {0xffffffff, 0xffffffff, 0xffffffff}, ""), Fault::bad_file),
                   "more than 2^64 bytes"));
    CHECK(contains(refusal(idx(0x0a, {1}, "a"), Fault::bad_file, {}, "t-idx1-ubyte.gz"), "is no IDX file"));
}

TEST_CASE("idx file: packed, whatever it is called") {
    for (const std::string name : {"t-images-idx3-ubyte.gz", "t.dat"}) {
        const TempFile file(name);
        const std::string bytes = idx(0x08, {2, 1, 2}, raw<std::uint8_t>({0, 51, 255, 102}));
        gzFile out = gzopen(file.path.c_str(), "wb");
        gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
        gzclose(out);
        CHECK(read_table(file.path).columns[0].numbers == Numbers{0, 1});
    }
}

TEST_CASE("labels: whole numbers are classes, in a column of their own") {
    const TempFile images("x.npy", three_by_two), labels("y.npy", three);
    const Table t = read_table(images.path, {.labels = labels.path});
    CHECK(names_of(t) == Names{"c1", "c2", "label"});
    CHECK(t.columns[2].kind == ColumnKind::text);
    CHECK(t.columns[2].values == Names{"7", "8"});
    CHECK(t.columns[2].codes == std::vector<std::uint32_t>{0, 1, 0});

    const TempFile bytes("y-idx1-ubyte", idx(0x08, {3}, std::string("\xff\0\xff", 3)));
    CHECK(read_table(images.path, {.labels = bytes.path}).column("label").values == Names{"255", "0"});
    const TempFile extremes("e.npy", npy("<i8", "(3, 1)", raw<std::int64_t>({INT64_MIN, INT64_MAX, INT64_MAX - 1})));
    CHECK(read_table(images.path, {.labels = extremes.path}).column("label").values ==
          Names{"-9223372036854775808", "9223372036854775807", "9223372036854775806"});
    const TempFile large("u.npy", npy("<u8", "(3,)", raw<std::uint64_t>({UINT64_MAX, 0, 1})));
    CHECK(read_table(images.path, {.labels = large.path}).column("label").values[0] == "18446744073709551615");
}

TEST_CASE("labels: other numbers are numbers, unless asked for as categories") {
    const TempFile images("x.npy", three_by_two), labels("y.npy", npy("<f4", "(3,)", raw<float>({0.5, 2, 0.5})));
    CHECK(read_table(images.path, {.labels = labels.path}).column("label").numbers == Numbers{0.5, 2, 0.5});
    const Table t = read_table(images.path, {.categorical = {"label"}, .labels = labels.path});
    CHECK(t.column("label").values == Names{"0.5", "2"});
    const TempFile csv("x.csv", "a,b\n1,2\n3,4\n5,6\n");
    CHECK(read_table(csv.path, {.categorical = {"label"}, .labels = labels.path}).column("label").values ==
          Names{"0.5", "2"});
}

TEST_CASE("labels: of another length, shape, format or name") {
    const TempFile images("x.npy", three_by_two), two("y.npy", npy("<i8", "(2,)", raw<std::int64_t>({1, 2})));
    CHECK_THROWS_WITH(read_table(images.path, {.labels = two.path}),
                      (images.path + " has 3 rows, and " + two.path + " has 2 labels.").c_str());
    CHECK_THROWS_WITH(read_table(images.path, {.labels = images.path}),
                      doctest::Contains("labels are one number a row; these are 3 × 2"));
    const TempFile csv("y.csv", "label\n1\n2\n3\n"), labels("z.npy", three);
    CHECK_THROWS_WITH(read_table(images.path, {.labels = csv.path}),
                      doctest::Contains("neither a .npy nor an IDX file"));
    CHECK_THROWS_WITH(read_table(csv.path, {.labels = labels.path}),
                      doctest::Contains("has a column \"label\" already"));
    CHECK_THROWS_WITH(read_table(images.path, {.labels = "/nowhere/y.npy"}),
                      "/nowhere/y.npy cannot be read: No such file or directory.");
}
