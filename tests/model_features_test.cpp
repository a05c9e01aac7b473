// Features: scaling, one-hot columns, missing and unknown values, tokens, and what is refused.
#include <cmath>

#include "model/features.hpp"
#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

struct Fitted {
    Features features;
    std::vector<std::string> warnings;
};

Rows all_rows(const Table& table) {
    Rows rows(table.rows);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    return rows;
}

std::vector<const Column*> all_columns(const Table& table) {
    std::vector<const Column*> columns;
    for (const auto& column : table.columns) columns.push_back(&column);
    return columns;
}

Fitted fit(const Table& table, const ModelOptions& options) {
    Fitted fitted;
    const auto columns = all_columns(table);
    const auto rows = usable_rows(table, columns, options.missing);
    fitted.features = fit_features(table, columns, options, rows, rows, fitted.warnings);
    return fitted;
}

std::vector<double> encode(const Features& features, const Table& table) {
    Samples samples;
    const auto columns = find_features(features, table);
    encode_features(features, table, columns, usable_rows(table, columns, features.missing), samples);
    return samples.inputs;
}

ModelOptions scaled(Scale scale) {
    ModelOptions options;
    options.scale = scale;
    return options;
}

}  // namespace

TEST_CASE("features: scaling of numbers") {
    const auto table = csv("a,b\n1,5\n2,5\n3,5\n6,5\n");
    const auto standard = fit(table, scaled(Scale::standard));
    CHECK(standard.features.columns[0].mean == 3);
    CHECK(standard.features.columns[0].sd == std::sqrt(14.0 / 4));
    CHECK(standard.features.columns[1].sd == 1);
    const double sd = std::sqrt(3.5);
    CHECK(encode(standard.features, table) == std::vector<double>{-2 / sd, 0, -1 / sd, 0, 0, 0, 3 / sd, 0});
    CHECK(encode(standard.features, csv("b,extra,a\n7,x,13\n")) == std::vector<double>{10 / sd, 2});
    REQUIRE(standard.warnings.size() == 1);
    CHECK(standard.warnings[0] == "t.csv: 1 feature is the same in all training rows: b.");

    const auto minmax = fit(table, scaled(Scale::minmax));
    CHECK(encode(minmax.features, table) == std::vector<double>{0, 0, 0.2, 0, 0.4, 0, 1, 0});
    CHECK(encode(minmax.features, csv("a,b\n11,9\n")) == std::vector<double>{2, 0});  // not clipped

    const auto none = fit(table, scaled(Scale::none));
    CHECK(encode(none.features, table) == std::vector<double>{1, 5, 2, 5, 3, 5, 6, 5});
}

TEST_CASE("features: constants are exactly 0, also where their mean is not exact") {
    const auto table = csv("a,b\n0.1,1\n0.1,2\n0.1,3\n");
    const auto fitted = fit(table, scaled(Scale::standard));
    const auto x = encode(fitted.features, table);
    CHECK(x[0] == 0);
    CHECK(x[2] == 0);
    CHECK(x[4] == 0);
}

TEST_CASE("features: one-hot columns by code point") {
    const auto table = csv("c,n\nb,1\n\xc3\xa4,2\nB,3\na,4\nb,5\n");
    const auto fitted = fit(table, scaled(Scale::none));
    CHECK(fitted.features.columns[0].values == std::vector<std::string>{"B", "a", "b", "\xc3\xa4"});
    CHECK(fitted.features.input().size == 5);
    CHECK(encode(fitted.features, csv("n,c\n9,\xc3\xa4\n8,B\n")) == std::vector<double>{0, 0, 0, 1, 9, 1, 0, 0, 0, 8});
}

TEST_CASE("features: unknown values") {
    auto fitted = fit(csv("c\na\nb\n"), {});
    const auto other = csv("c\na\n\nz\n");
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { encode(fitted.features, csv("c,d\nb,1\nz,2\n")); }),
                   "t.csv:3: column \"c\" has the value \"z\", which was not seen in training");
    fitted.features.unknown = Unknown::zero;
    CHECK(encode(fitted.features, csv("c,d\nb,1\nz,2\n")) == std::vector<double>{0, 1, 0, 0});
}

TEST_CASE("features: missing values") {
    const auto table = csv("n,c,k\n1,a,1\n,b,1\n3,,2\n5,b,9\n");
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(table, {}); }),
                   "t.csv:3: column \"n\" has no value; --missing mean");

    ModelOptions options = scaled(Scale::none);
    options.missing = Missing::drop;
    const auto drop = fit(table, options);
    CHECK(encode(drop.features, table) == std::vector<double>{1, 1, 0, 1, 5, 0, 1, 9});

    options.missing = Missing::mean;
    const auto mean = fit(table, options);
    CHECK(mean.features.columns[0].fill == 3);
    CHECK(mean.features.columns[1].fill_value == "b");
    CHECK(encode(mean.features, table) == std::vector<double>{1, 1, 0, 1, 3, 0, 1, 1, 3, 0, 1, 2, 5, 0, 1, 9});
    // A column without any value is of both kinds.
    CHECK(encode(mean.features, csv("n,c,k\n,,1\n,,2\n")) == std::vector<double>{3, 0, 1, 1, 3, 0, 1, 2});
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(csv("n,k\n,1\n,2\n"), options); }),
                   "no value in any training row");
}

TEST_CASE("features: the most frequent value is the first by code point among equal ones") {
    ModelOptions options;
    options.missing = Missing::mean;
    CHECK(fit(csv("c,n\nb,1\na,2\nb,3\na,4\n"), options).features.columns[0].fill_value == "a");
}

TEST_CASE("features: columns of another kind") {
    const auto numbers = fit(csv("a,b\n1,2\n2,3\n"), {});
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { encode(numbers.features, csv("a,b\n1,x\n2,y\n")); }),
                   "t.csv:2: column \"b\" has the text \"x\" where a number is needed");
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { encode(numbers.features, csv("a\n1\n")); }),
                   "lacks 1 column that the model needs: b");
    const auto text = fit(csv("a\nx\ny\n"), {});
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { encode(text.features, csv("a\n1\n2\n")); }), "--categorical a");
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(csv("a\n1\nx\n2\n"), {}); }), "--categorical");
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { encode(numbers.features, csv("a,b\n1,1\n2,x\n3,4\n")); }),
                   "--categorical");
}

TEST_CASE("features: at most 1000 values of a text") {
    std::string text = "id\n";
    for (int i = 0; i < 1000; ++i) text += "v" + std::to_string(i) + "\n";
    CHECK(fit(csv(text), {}).features.input().size == 1000);
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(csv(text + "w\n"), {}); }),
                   "text with 1001 values, more than 1000");
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(csv(text + "w\n"), {}); }), "--drop");
}

TEST_CASE("features: tokens") {
    ModelOptions options;
    options.tokens = 4;
    const auto table = csv("a,b\n0,3\n1,2\n");
    const auto fitted = fit(table, options);
    CHECK(fitted.features.input().tokens.count == 2);
    CHECK(fitted.features.input().tokens.vocab == 4);
    Samples samples;
    encode_features(fitted.features, table, all_columns(table), all_rows(table), samples);
    CHECK(samples.tokens == std::vector<std::uint32_t>{0, 3, 1, 2});
    CHECK(samples.inputs.empty());
    for (const auto* bad : {"4", "-1", "1.5"}) {
        const auto text =
            refusal(Fault::bad_data, [&] { encode(fitted.features, csv(std::string("a,b\n0,0\n0,") + bad + "\n")); });
        CHECK_MENTIONS(text, "t.csv:3: column \"b\" has the value " + std::string(bad));
        CHECK_MENTIONS(text, "from 0 to 3");
    }
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(csv("a\nx\ny\n"), options); }), "where a number is needed");
}

TEST_CASE("features: values too large") {
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(csv("a\n1e308\n-1e308\n1e308\n"), {}); }), "too large to scale");
    const auto fitted = fit(csv("a\n0\n1e-300\n"), scaled(Scale::minmax));
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { encode(fitted.features, csv("a\n1e300\n")); }),
                   "t.csv:2: column \"a\" has the value 1e+300");
    const auto raw = fit(csv("a\n0\n1\n"), scaled(Scale::none));
    encode(raw.features, csv("a\n3.4e38\n-3.4e38\n"));
    for (const std::string bad : {"3.5e+38", "-1e+39", "1e+300"}) {
        CHECK(refusal(Fault::bad_data, [&] { encode(raw.features, csv("a\n1\n" + bad + "\n")); }) ==
              "t.csv:3: column \"a\" has the value " + bad + ", which is " + bad +
                  " to the network; float32 ends at 3.4028234663852886e+38.");
    }
    Table table = csv("a\n1\n2\n");
    table.columns[0].numbers[1] = HUGE_VAL;
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { fit(table, {}); }), "infinite");
}

TEST_CASE("features: tables filled by hand") {
    Table table = csv("a,b\n1,x\n2,y\n");
    check_table(table);
    table.columns[0].numbers.pop_back();
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { check_table(table); }), "has 1 cell; the table has 2 rows");
    table.columns[0].numbers.push_back(1);
    table.columns[1].codes[0] = 2;
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { check_table(table); }), "a code without a value");
    table.columns[1].codes[0] = Column::missing;
    table.columns[1].name = "a";
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { check_table(table); }), "there twice");
}

TEST_CASE("features: blocks of rows are joined without a seam") {
    std::string text = "a,c,b\n";
    for (int i = 0; i < 101; ++i)
        text += std::to_string(i) + ",v" + std::to_string(i % 3) + "," + std::to_string(-i) + "\n";
    const auto table = csv(text);
    const auto x = encode(fit(table, scaled(Scale::none)).features, table);
    REQUIRE(x.size() == 505);
    for (std::size_t i = 0; i < 101; ++i) {
        const auto k = static_cast<double>(i);
        CHECK(x[5 * i] == k);
        CHECK(x[5 * i + 1 + i % 3] == 1);
        CHECK(x[5 * i + 1] + x[5 * i + 2] + x[5 * i + 3] == 1);
        CHECK(x[5 * i + 4] == -k);
    }
}
