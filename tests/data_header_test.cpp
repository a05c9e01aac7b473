// CSV without a word about its header: where the guess may be wrong, it is said.
#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

std::string doubt(const std::string& text, const ReadOptions& options = {}) {
    return read_csv(text, "t.csv", options).header_doubt;
}

}  // namespace

TEST_CASE("csv header: a first row of numbers that could be names is told") {
    const std::string years = "1990,2000,2010\n1,2,3\n2,3,5\n";
    CHECK(
        doubt(years) ==
        "t.csv:1 is all numbers and so was read as data, though they ascend as names of columns could; --header reads "
        "it as names, --no-header says that it is data.");
    CHECK(read_csv(years, "t.csv").rows == 3);
    CHECK(doubt(years, {.header = true}).empty());
    CHECK(doubt(years, {.header = false}).empty());
    CHECK(doubt("0,1\n1,2\n").starts_with("t.csv:1"));
    CHECK(doubt("\n0,1\n1,2\n").starts_with("t.csv:2"));
    for (const auto* text : {"0,0\n1,2\n", "2,1\n1,2\n", "0.5,1\n1,2\n", "7\n8\n"}) {
        INFO(text);
        CHECK(doubt(text).empty());
    }
    // What is then not found is told with it.
    for (const ReadOptions& options : {ReadOptions{}, ReadOptions{.categorical = {"2010"}}}) {
        const auto why = refusal(Fault::bad_argument, [&] { read_csv(years, "t.csv", options).find("2010"); });
        CHECK_MENTIONS(why, "has no column \"2010\"; its columns are c1, c2, c3. t.csv:1 is all numbers");
    }
}

TEST_CASE("csv header: names with a number among them are told, unless they ascend") {
    CHECK(doubt("5,3.5,rose\n4,3,iris\n") ==
          "t.csv:1 was read as the names of the columns, though \"5\" is a number; --no-header reads it as data, "
          "--header says that it is names.");
    CHECK(doubt("rose,5\niris,4\n").find("\"5\"") != std::string::npos);
    CHECK(doubt("1,2,?\n4,3,2\n").find("\"1\"") != std::string::npos);  // numbers and a missing one
    CHECK(doubt("1,2,inf\n4,3,2\n").find("\"1\"") != std::string::npos);
    CHECK(doubt("5,3.5,rose\n4,3,iris\n", {.header = true}).empty());
    CHECK(doubt("country,1990,2000\nx,1,2\n").empty());
    CHECK(doubt("a,b\n1,2\n").empty());
}

TEST_CASE("csv header: training warns of both of its tables") {
    const auto table = csv("1,x\n2,y\n3,x\n"), validate = csv("x,1\nx,2\ny,3\n");
    const auto trained = Model::train(table, small("x"), short_run(), &validate);
    REQUIRE(trained.warnings.size() == 2);
    CHECK(trained.warnings[0] == table.header_doubt);
    CHECK(trained.warnings[1] == validate.header_doubt);
}
