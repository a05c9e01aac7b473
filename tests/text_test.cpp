// Numbers and JSON as text.
#include "core/text.hpp"

#include <cmath>
#include <limits>

#include "core/hash.hpp"
#include "core/json.hpp"
#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

TEST_CASE("numbers are the shortest decimals that read back") {
    CHECK(to_text(0.1) == "0.1");
    CHECK(to_text(1) == "1");
    CHECK(to_text(1e-5) == "1e-05");
    CHECK(to_text(-0.0) == "-0");
    CHECK(to_text(1.0 / 3) == "0.3333333333333333");
    CHECK(to_text(std::nan("")) == "nan");
    CHECK(to_text(-std::nan("")) == "nan");
    CHECK(to_text(-std::numeric_limits<double>::infinity()) == "-inf");
    CHECK(to_text(-std::numeric_limits<double>::min()) == "-2.2250738585072014e-308");
}

TEST_CASE("a text is a number as a whole or not at all") {
    CHECK(to_number("1.5") == 1.5);
    CHECK(to_number(" 1e3\t") == 1000);
    for (const auto* text : {"", " ", "1,5", "1.5x", "inf", "nan", "1e999", "0x10", "+1"}) CHECK(!to_number(text));
}

TEST_CASE("JSON keeps order and numbers") {
    nlohmann::ordered_json json = {
        {"z", 0.1}, {"a", {1, 2.0, -0.0}}, {"t", "q\"\n\xc3\xa4"}, {"n", nullptr}, {"e", {}}};
    json["list"] = nlohmann::ordered_json::array();
    json["object"] = nlohmann::ordered_json::object();
    json["bad"] = std::nan("");
    CHECK(to_json(json) ==
          "{\"z\":0.1,\"a\":[1,2,-0.0],\"t\":\"q\\\"\\n\xc3\xa4\",\"n\":null,\"e\":null,\"list\":[],\"object\":{},"
          "\"bad\":null}");
    CHECK(to_json({{"a", {1}}}, 2) == "{\n  \"a\": [\n    1\n  ]\n}");
    CHECK(std::signbit(nlohmann::json::parse(to_json(-0.0)).get<double>()));
    CHECK_MENTIONS(refusal(Fault::bad_data, [] { to_json("\xff"); }), "UTF-8");
}

TEST_CASE("JSON from elsewhere") {
    CHECK_MENTIONS(refusal(Fault::bad_file, [] { parse_json("{", "f: x"); }), "f: x is not JSON.");
    CHECK_MENTIONS(refusal(Fault::bad_file, [] { parse_json("{\"a\":1,\"b\":{\"a\":1,\"a\":2}}", "f"); }),
                   "\"a\" twice");
    CHECK_MENTIONS(refusal(Fault::bad_file, [] { parse_json(std::string(100000, '['), "f"); }), "deeper than 32");
    const auto json = parse_json(R"({"a": [1, "x", 1.5, -1, 18446744073709551615], "n": null})", "f");
    const JsonValue value(json, "f");
    const auto items = value.at("a").items();
    CHECK(items[0].integer(0, 1) == 1);
    CHECK(items[1].string() == "x");
    CHECK(!value.find("n"));
    CHECK(!value.find("absent"));
    CHECK(refusal([&] { value.at("b"); }) == "f: the description has no \"b\".");
    CHECK(refusal([&] { (void)items[1].number(); }) == "f: a[1] is not a number.");
    CHECK(refusal([&] { (void)items[2].integer(0, 9); }) == "f: a[2] is not a whole number.");
    CHECK(refusal([&] { (void)items[3].integer(0, 9); }) == "f: a[3] is -1, not in 0 .. 9.");
    CHECK(refusal([&] { (void)items[4].integer(0, 9); }) == "f: a[4] is not a whole number.");
}

TEST_CASE("XXH3-128 of nothing, and of bytes in pieces") {
    CHECK(Hash().text() == "99aa06d3014798d86001c324468d497f");  // published
    const std::string bytes = "some bytes";
    const auto all = std::as_bytes(std::span(bytes));
    Hash whole, pieces;
    whole.add(all);
    pieces.add(all.first(3));
    pieces.add(all.subspan(3));
    CHECK(whole.text() == pieces.text());
}
