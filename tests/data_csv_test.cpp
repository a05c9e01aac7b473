// CSV: what is read, and every input that is refused, with its place.
#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "shunt/data.hpp"

using namespace shunt;

namespace {

Table csv(const std::string& text, const ReadOptions& options = {}) {
    return read_csv(text, "t.csv", options);
}

// The whole sentence, so that a changed word is seen; "" where nothing is thrown.
std::string refusal(const std::string& text, Fault fault = Fault::bad_data, const ReadOptions& options = {}) {
    try {
        csv(text, options);
    } catch (const Error& error) {
        CHECK(error.fault() == fault);
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> names(const Table& table) {
    std::vector<std::string> all;
    for (const Column& column : table.columns) all.push_back(column.name);
    return all;
}

// "-" where missing.
std::vector<std::string> cells(const Column& column) {
    std::vector<std::string> all;
    for (const std::uint32_t code : column.codes) all.push_back(code == Column::missing ? "-" : column.values[code]);
    return all;
}

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;
using Lines = std::vector<std::uint64_t>;

struct TempFile {
    std::string path;
    TempFile(const std::string& name, const std::string& bytes)
        : path((std::filesystem::temp_directory_path() / ("shunt_data_csv_" + std::to_string(getpid()) + "_" + name))
                   .string()) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    ~TempFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
};

std::string file_refusal(const std::string& path, Fault fault) {
    try {
        read_table(path);
    } catch (const Error& error) {
        CHECK(error.fault() == fault);
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("csv: numbers and words become columns of their kinds") {
    const Table t = csv("a,b,name\n1,-2.5e3,red\n 0.5 ,.5,  blue \n3.,1e-5,red\n");
    CHECK(names(t) == Names{"a", "b", "name"});
    CHECK(t.rows == 3);
    CHECK(t.columns[0].numbers == Numbers{1, 0.5, 3});
    CHECK(t.columns[1].numbers == Numbers{-2500, 0.5, 1e-5});
    CHECK(t.columns[2].kind == ColumnKind::text);
    CHECK(t.columns[2].values == Names{"red", "blue"});
    CHECK(cells(t.columns[2]) == Names{"red", "blue", "red"});
    CHECK(t.columns[2].mixture.empty());
}

TEST_CASE("csv: each separator is found by itself") {
    for (const std::string s : {",", ";", "\t", "|"}) {
        CAPTURE(s);
        const Table t = csv("a" + s + "b\n1" + s + "x\n2" + s + "y\n");
        CHECK(names(t) == Names{"a", "b"});
        CHECK(t.columns[0].numbers == Numbers{1, 2});
    }
}

TEST_CASE("csv: a separator within some cells does not mislead the search") {
    CHECK(csv("name;remark\nx;one, two\ny;three\n").columns.size() == 2);
    CHECK(csv("\"a;b\",\"c;d\"\n\"1;2\",\"3;4\"\n").columns.size() == 2);
    CHECK(csv("t\tv\n2020-01-01, 10:00\t1\n2020-01-02, 10:00\t2\n").columns.size() == 2);
}

TEST_CASE("csv: no separator gives one column") {
    const Table t = csv("x\n1\n2\n");
    CHECK(names(t) == Names{"x"});
    CHECK(t.columns[0].numbers == Numbers{1, 2});
    const Table words = csv("text\nHello, world\nfoo\nbar\n");
    CHECK(cells(words.columns[0]) == Names{"Hello, world", "foo", "bar"});
}

TEST_CASE("csv: the separator is looked for in 20 records, raggedness in all") {
    std::string text = "a,b\n";
    for (int i = 0; i < 30; ++i) text += "1,2\n";
    CHECK(refusal(text + "1,2,3\n") == "t.csv:32: 3 fields where line 1 has 2.");
}

TEST_CASE("csv: tab-separated empty cells are cells, not blanks to be trimmed") {
    const Table t = csv("a\tb\tc\n\t\t3\n1\t\t\n\t\t\n");
    CHECK(t.rows == 3);
    CHECK(t.columns[0].n_missing() == 2);
    CHECK(t.columns[1].n_missing() == 3);
    CHECK(t.columns[2].numbers[0] == 3);
}

TEST_CASE("csv: a BOM is no part of the first name") {
    CHECK(names(csv("\xef\xbb\xbf"
                    "a,b\n1,2\n")) == Names{"a", "b"});
}

TEST_CASE("csv: CR LF, CR alone and a last line without an end are lines") {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        const Table t = csv("a,b" + end + "1,x" + end + "2,y");
        CHECK(t.rows == 2);
        CHECK(t.lines == Lines{2, 3});
        CHECK(t.columns[1].values == Names{"x", "y"});
    }
}

TEST_CASE("csv: quotes hold separators, quotes and line ends, and lines still count") {
    const Table t = csv("a,b\n\"x, y\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n \"spaced\" ,4\n5\" pipe,5\n");
    CHECK(t.columns[0].values == Names{"x, y", "say \"hi\"", "two\nlines", "spaced", "5\" pipe"});
    CHECK(t.columns[1].numbers == Numbers{1, 2, 3, 4, 5});
    CHECK(t.lines == Lines{2, 3, 4, 6, 7});
    CHECK(t.place(3) == "t.csv:6");
    CHECK(csv("a,b\n\"a\r\nb\",1\nc,2\n").lines == Lines{2, 4});
}

TEST_CASE("csv: quoted numbers are numbers, quoted nothing is missing") {
    const Table t = csv("a,b\n\"1\",\"\"\n\"2\",\"\"\"\"\n");
    CHECK(t.columns[0].numbers == Numbers{1, 2});
    CHECK(cells(t.columns[1]) == Names{"-", "\""});
}

TEST_CASE("csv: an open quote is refused with the line on which it opens") {
    CHECK(refusal("a,b\n1,x\n2,\"y\n3,z\n") == "t.csv:3: the quote that opens here is never closed.");
    CHECK(refusal("a,b\n\"1\n\n2\",\"y") == "t.csv:4: the quote that opens here is never closed.");
}

TEST_CASE("csv: text after a closing quote is refused") {
    const std::string said = "text after a closing quote; a quote within quotes is written twice.";
    CHECK(refusal("a,b\n1,\"x\"y\n") == "t.csv:2: " + said);
    CHECK(refusal("a,b\n1,\"x\n\"y\n") == "t.csv:3: " + said);
    CHECK(refusal("a\n\"x\"\"\" y\n") == "t.csv:2: " + said);
}

TEST_CASE("csv: ragged rows are refused with line, count and expectation") {
    CHECK(refusal("a,b,c\n1,2,3\n1,2\n") == "t.csv:3: 2 fields where line 1 has 3.");
    CHECK(refusal("a,b\n1,2\n\n\n1\n") == "t.csv:5: 1 field where line 1 has 2.");
    CHECK(refusal("a,b\n1,2,3\n4,5,6\n") == "t.csv:2: 3 fields where line 1 has 2.");
    CHECK(refusal("a;b\n1;\"x\ny\"\n1;2;\n") == "t.csv:4: 3 fields where line 1 has 2.");
}

TEST_CASE("csv: blank lines are skipped and counted") {
    const Table t = csv("\n\na,b\n\n1,2\n  \n3,4\n\n\n");
    CHECK(t.rows == 2);
    CHECK(t.lines == Lines{5, 7});
    CHECK(csv("x\n1\n\n2\n\n").columns[0].numbers == Numbers{1, 2});
}

TEST_CASE("csv: an empty file and a header alone are refused") {
    CHECK(refusal("") == "t.csv is empty.");
    CHECK(refusal("\n \n\r\n") == "t.csv is empty.");
    CHECK(refusal("\xef\xbb\xbf") == "t.csv is empty.");
    CHECK(refusal("a,b\n") == "t.csv has a header and no rows.");
    CHECK(refusal("1,2\n", Fault::bad_data, {.header = true}) == "t.csv has a header and no rows.");
}

TEST_CASE("csv: a first row of numbers is data") {
    const Table t = csv("1,2\n3,4\n");
    CHECK(names(t) == Names{"c1", "c2"});
    CHECK(t.rows == 2);
    CHECK(t.lines == Lines{1, 2});
    CHECK(names(csv("1,b\n3,4\n")) == Names{"1", "b"});
}

TEST_CASE("csv: a header is forced or forbidden") {
    CHECK(names(csv("1,2\n3,4\n", {.header = true})) == Names{"1", "2"});
    const Table t = csv("x,y\nz,w\n", {.header = false});
    CHECK(names(t) == Names{"c1", "c2"});
    CHECK(t.rows == 2);
}

TEST_CASE("csv: two columns of one name and a column without one are refused") {
    CHECK(refusal("a,b,a\n1,2,3\n") ==
          "t.csv:1: columns 1 and 3 are both named \"a\". --no-header reads this line as data.");
    CHECK(refusal("\na,,b\n1,2,3\n") ==
          "t.csv:2: column 2 has no name in the header. --no-header reads this line as data.");
}

TEST_CASE("csv: every marker of a missing value, in numbers and in words") {
    for (const std::string marker : {"", "NA", "N/A", "NaN", "nan", "null", "None", "?", " NA "}) {
        CAPTURE(marker);
        const Table t = csv("n,w\n1,x\n" + marker + "," + marker + "\n");
        CHECK(t.columns[0].kind == ColumnKind::numeric);
        CHECK(std::isnan(t.columns[0].numbers[1]));
        CHECK(t.columns[0].n_missing() == 1);
        CHECK(cells(t.columns[1]) == Names{"x", "-"});
        CHECK(t.columns[1].n_missing() == 1);
    }
}

TEST_CASE("csv: a column with nothing in it is numeric") {
    const Table t = csv("a,b\n1,\n2,NA\n");
    CHECK(t.columns[1].kind == ColumnKind::numeric);
    CHECK(t.columns[1].n_missing() == 2);
}

TEST_CASE("csv: infinities are refused with their place") {
    for (const std::string cell :
         {"inf", "-inf", "Infinity", "INF", "1e999", "-1e999", "1e99999999999999999999", "10e308"}) {
        CHECK(refusal("a,b\n1,2\n3," + cell + "\n") ==
              "t.csv:3, column \"b\": \"" + cell + "\" is not a finite number.");
    }
    CHECK(csv("a,b\n1,inf\n2,sup\n").columns[1].mixture != "");
    CHECK(cells(csv("a,b\n1,inf\n2,1e999\n", {.categorical = {"b"}}).columns[1]) == Names{"inf", "1e999"});
}

TEST_CASE("csv: a number too small for a double is 0, not an infinity") {
    for (const std::string cell : {"1e-999", "-1e-999", "0.00001e-330", "1e-99999999999999999999", "123e-400"}) {
        CAPTURE(cell);
        CHECK(csv("a\n1\n" + cell + "\n").columns[0].numbers[1] == 0);
    }
    const std::string zeros(400, '0');
    CHECK(csv("a\n1\n0." + zeros + "1\n").columns[0].numbers[1] == 0);
    CHECK(contains(refusal("a\n1\n1" + zeros + "\n"), "is not a finite number"));
    CHECK(csv("a\n0." + zeros + "1e401\n1\n").columns[0].numbers[0] == 1);
}

TEST_CASE("csv: what resembles a number and is none is a word") {
    for (const std::string cell : {"+1", "0x10", "1e", "1_000", "--1", "1.2.3", "nan(7)", "-nan", "12abc", "1 2"}) {
        CAPTURE(cell);
        const Table t = csv("a,b\n1,2\n1,3\n1," + cell + "\n");
        CHECK(t.columns[1].kind == ColumnKind::text);
        CHECK(contains(t.columns[1].mixture, "t.csv:4, column \"b\": \"" + cell + "\" is no number, but 2 cells"));
    }
}

TEST_CASE("csv: a mixture names the first cell of the smaller kind and a way out") {
    const Table numbers = csv("id,age\n1,30\n2,old\n3,NA\n4,20\n5,older\n6,7\n");
    CHECK(numbers.columns[0].mixture.empty());
    CHECK(numbers.columns[1].mixture ==
          "t.csv:3, column \"age\": \"old\" is no number, but 3 cells of the column are. "
          "--categorical age reads its numbers as categories.");
    const Table words = csv("id,the city\n1,Rome\n2,Oslo\n3,7\n4,8\n5,Bern\n");
    CHECK(words.columns[1].mixture ==
          "t.csv:4, column \"the city\": \"7\" is a number, but 3 cells of the column are not. "
          "--categorical 'the city' reads its numbers as categories.");
    CHECK(contains(csv("a\n+1\n2\n").columns[0].mixture, "Numbers are written without a +."));
    CHECK(contains(csv("a\n1\nx\n").columns[0].mixture, "\"x\" is no number, but 1 cell of the column is one."));
}

TEST_CASE("csv: a long or odd cell is shown on one short line") {
    const std::string mixture = csv("a,b\n1,2\n1,\"" + std::string(39, 'x') + "\xc3\xa9\nzz\"\n").columns[1].mixture;
    CHECK(contains(mixture, "\"" + std::string(39, 'x') + "…\""));
    CHECK(contains(csv("a,b\n1,2\n1,\"x\ny\"\n").columns[1].mixture, "\"x y\""));
}

TEST_CASE("csv: categorical columns keep their cells as written") {
    const Table t = csv("a,b\n1,1.0\n2, 1 \nx,NA\n", {.categorical = {"a", "2"}});
    CHECK(cells(t.columns[0]) == Names{"1", "2", "x"});
    CHECK(cells(t.columns[1]) == Names{"1.0", "1", "-"});
    CHECK(t.columns[0].mixture.empty());
    CHECK(refusal("a,b\n1,2\n", Fault::bad_argument, {.categorical = {"z"}}) ==
          "t.csv has no column \"z\"; its columns are a, b.");
}

TEST_CASE("csv: decimal commas are refused by name") {
    CHECK(refusal("a;b\n1,5;2\n2,25;3\n") ==
          "t.csv:2, column \"a\": \"1,5\" has a comma, and decimal commas are not read; write a point. "
          "--categorical a reads its numbers as categories.");
    CHECK(contains(refusal("a;b\n1;2\n2;-3,5e2\n"), "t.csv:3, column \"b\": \"-3,5e2\""));
    CHECK(contains(refusal("1,5;2,5\n3,5;4,5\n"), "t.csv:2, column \"1,5\": \"3,5\""));
    CHECK(contains(refusal("a,b\n\"1,5\",1\n\"2,5\",2\n"), "decimal commas"));
    CHECK(contains(refusal("x\n1,5\n2,5\n"), "t.csv:2, column \"x\": \"1,5\""));
    CHECK(csv("a;b\n1,2;x\ny;z\n").columns[0].values == Names{"1,2", "y"});
    CHECK(cells(csv("a;b\n1,5;2\n", {.categorical = {"a"}}).columns[0]) == Names{"1,5"});
}

TEST_CASE("csv: bytes that are no UTF-8 text are refused with their line") {
    CHECK(refusal("a,b\n1,caf\xe9\n") == "t.csv:2: byte 0xe9 is not UTF-8; save the file with that encoding.");
    CHECK(refusal(std::string("a,b\r\n1,2\r\n3,\0\r\n", 15)) == "t.csv:3: a NUL byte; this is no text file.");
    CHECK(contains(refusal(std::string("\xff\xfe"
                                       "a\0,\0",
                                       6)),
                   "t.csv:1: the text is UTF-16"));
    // Overlong, surrogate, past U+10FFFF, a lone continuation, cut short at the end.
    for (const std::string bad :
         {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xf0\x9f\x98"}) {
        CHECK(contains(refusal("a,bbbbbbbbbbbbbb\n\n1," + bad), "t.csv:3: byte 0x"));
    }
    const std::string good = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf";
    CHECK(csv("a\n" + good + "\n").columns[0].values == Names{good});
}

TEST_CASE("csv: quotes, separators and blanks in the strangest places end in a table or an Error") {
    for (const std::string text : {"\"", "\"\"", "\"\"\"", ",", ",,\n,,", "\"\n\"", "a,\"\"b", "\r\r\n\n\r", ";,\t|",
                                   " ", "\t", "\"a\" \t,b\n\" \",\"\n\"\n"}) {
        CAPTURE(text);
        try {
            const Table t = csv(text);
            for (const Column& c : t.columns) CHECK(std::max(c.numbers.size(), c.codes.size()) == t.rows);
        } catch (const Error& error) {
            CHECK(std::string(error.what()).starts_with("t.csv"));
        }
    }
}

TEST_CASE("table: columns are found by name, then by number") {
    const Table t = csv("b,2,a\n1,2,3\n");
    CHECK(t.find("a") == 2);
    CHECK(t.find("1") == 0);
    CHECK(t.find("2") == 1);  // its name
    CHECK(t.find("3") == 2);
    CHECK(t.column("a").numbers == Numbers{3});
    for (const std::string name : {"0", "4", "-1", "c", "", "1.0", "99999999999999999999999"}) {
        CHECK_THROWS_AS(t.find(name), Error);
    }
}

TEST_CASE("table: an error about a wide table does not list it all") {
    Table t;
    t.source = "w.npy";
    for (int i = 1; i <= 784; ++i) t.columns.emplace_back().name = "c" + std::to_string(i);
    CHECK_THROWS_WITH(t.find("z"), doctest::Contains("c20 and 764 more."));
    CHECK(t.place(16) == "w.npy, row 17");
}

TEST_CASE("csv: random tables come back as they were written") {
    std::mt19937_64 random(7);
    const std::string alphabet = "ab,;\t|\"\n 9.é";
    for (int round = 0; round < 200; ++round) {
        const std::size_t rows = 1 + random() % 30, cols = 2 + random() % 5;
        const char separator = ",;\t|"[random() % 4];
        std::vector<Numbers> numbers(cols);
        std::vector<Names> words(cols);
        std::string text;
        for (std::size_t c = 0; c < cols; ++c)
            text += (c ? std::string(1, separator) : "") + "\"col" + std::to_string(c) + "\"";
        text += "\n";
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t c = 0; c < cols; ++c) {
                if (c) text += separator;
                if (c % 2 == 0) {
                    const double x =
                        std::ldexp(static_cast<double>(random()) - 9e18, static_cast<int>(random() % 400) - 200);
                    char digits[64];
                    text.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
                    numbers[c].push_back(x);
                    continue;
                }
                std::string word = "w";  // so that it is neither missing nor a number, nor trimmed
                for (std::size_t k = random() % 8; k > 0; --k) word += alphabet[random() % 11];
                word += "w";
                words[c].push_back(word);
                text += '"';
                for (const char letter : word) text += letter == '"' ? "\"\"" : std::string(1, letter);
                text += '"';
            }
            text += random() % 2 ? "\n" : "\r\n";
        }
        CAPTURE(text);
        const Table t = csv(text);
        REQUIRE(t.columns.size() == cols);
        REQUIRE(t.rows == rows);
        for (std::size_t c = 0; c < cols; ++c) {
            CHECK(t.columns[c].name == "col" + std::to_string(c));
            CHECK(t.columns[c].mixture.empty());
            if (c % 2 == 0) CHECK(t.columns[c].numbers == numbers[c]);
            if (c % 2 == 1) CHECK(cells(t.columns[c]) == words[c]);
        }
    }
}

TEST_CASE("csv file: read from disk, packed or not, named in errors as it was given") {
    const TempFile plain("plain.csv", "a,b\n1,x\n2,y\n");
    const Table t = read_table(plain.path);
    CHECK(t.source == plain.path);
    CHECK(t.columns[0].numbers == Numbers{1, 2});

    const TempFile packed("packed.csv.gz", "");
    gzFile out = gzopen(packed.path.c_str(), "wb");
    std::string text = "a,b\n";
    for (int i = 0; i < 100000; ++i) text += std::to_string(i) + ",x\n";
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    CHECK(read_table(packed.path).columns[0].numbers[99999] == 99999);

    const TempFile ragged("ragged.csv", "a,b\n1,2\n3\n");
    CHECK(file_refusal(ragged.path, Fault::bad_data) == ragged.path + ":3: 1 field where line 1 has 2.");
}

TEST_CASE("csv file: truncated, damaged, lengthened and joined gzip data") {
    const TempFile packed("cut.csv.gz", "");
    gzFile out = gzopen(packed.path.c_str(), "wb");
    gzputs(out, "a,b\n1,2\n3,4\n");
    gzclose(out);
    std::ifstream in(packed.path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});

    const TempFile cut("cut2.csv.gz", bytes.substr(0, bytes.size() - 5));
    CHECK(contains(file_refusal(cut.path, Fault::bad_file), "is truncated within its gzip data"));
    std::string wrong = bytes;
    wrong[bytes.size() - 6] = static_cast<char>(wrong[bytes.size() - 6] ^ 1);
    const TempFile damaged("damaged.csv.gz", wrong);
    CHECK(contains(file_refusal(damaged.path, Fault::bad_file), "the gzip data are damaged (incorrect data check)"));
    const TempFile longer("longer.csv.gz", bytes + "abc");
    CHECK(contains(file_refusal(longer.path, Fault::bad_file), "has 3 bytes after its gzip data"));
    const TempFile joined("joined.csv.gz", bytes + bytes);
    CHECK(contains(read_table(joined.path).columns[0].mixture, ":4, column \"a\": \"a\""));
    const TempFile not_packed("not.csv.gz", "a,b\n1,2\n");
    CHECK(contains(file_refusal(not_packed.path, Fault::bad_file), "is no gzip file"));
}

TEST_CASE("csv file: missing, a directory, empty, of another program") {
    const std::string nowhere = "/nowhere/people.csv";
    CHECK(file_refusal(nowhere, Fault::bad_file) == nowhere + " cannot be read: No such file or directory.");
    const std::string directory = std::filesystem::temp_directory_path().string();
    CHECK(file_refusal(directory, Fault::bad_file) == directory + " cannot be read: Is a directory.");
    const TempFile empty("empty.csv", "");
    CHECK(file_refusal(empty.path, Fault::bad_data) == empty.path + " is empty.");
    const TempFile parquet("t.parquet", "PAR1.....PAR1");
    CHECK(contains(file_refusal(parquet.path, Fault::unsupported),
                   "is a Parquet file, which this version does not read"));
    const TempFile arrow("t.arrow", std::string("ARROW1\0\0...", 11));
    CHECK(contains(file_refusal(arrow.path, Fault::unsupported), "is an Arrow file"));
    const TempFile header("par.csv", "PAR1,PAR2\n1,2\n");
    CHECK(read_table(header.path).columns[0].name == "PAR1");
}

TEST_CASE("csv: whole numbers of a few digits, the ones read apart, are the numbers they look like") {
    const Table t = csv("a,b\n0,-0\n007,9999\n255,10000\n42,-1\n");
    CHECK(t.columns[0].numbers == Numbers{0, 7, 255, 42});
    CHECK(t.columns[1].numbers == Numbers{0, 9999, 10000, -1});
}

TEST_CASE("csv: many columns and rows, past the block that is read at once") {
    std::string text;
    for (int r = 0; r < 50; ++r) {
        for (int c = 0; c < 1000; ++c) text += (c ? "," : "") + std::to_string(r * 1000 + c);
        text += "\n";
    }
    const Table t = csv(text);
    for (const std::size_t r : {0u, 15u, 16u, 31u, 32u, 49u}) {
        CHECK(t.columns[0].numbers[r] == double(r) * 1000);
        CHECK(t.columns[999].numbers[r] == double(r) * 1000 + 999);
    }
    CHECK(refusal(text + std::string(999 * 2, ',').substr(0, 999) + "inf\n") ==
          "t.csv:51, column \"c1000\": \"inf\" is not a finite number.");
}
