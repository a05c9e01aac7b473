// Files of models and networks: round trips, the same bytes, and all that is refused.
#include <nlohmann/json.hpp>

#include "core/safetensors.hpp"
#include "core/text.hpp"
#include "model/impl.hpp"
#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

using Json = nlohmann::ordered_json;

Model flower_model(const std::string& backend = "plain", std::int64_t epochs = 3) {
    auto options = small("kind");
    options.backend = backend;
    options.hold_out = 0.25;
    return Model::train(csv(flowers), options, short_run(epochs)).model;
}

Table to_ask() {
    return csv("length,width,colour\n1.1,0.6,red\n2.2,0.1,white\n7,0.9,blue\n");
}

// The file of a model whose description was changed.
template <typename Change>
std::string changed(const std::string& bytes, Change change) {
    auto content = read_safetensors(bytes, "f");
    auto description = Json::parse(content.metadata.at("shunt"));
    change(description);
    content.metadata["shunt"] = to_json(description);
    return write_safetensors(content);
}

std::string why(const std::string& bytes) {
    return refusal(Fault::bad_file, [&] { read_model(bytes, "f", "plain", 0); });
}

std::string saved(const Model& model) {
    const Directory here;
    model.save(here.file("m"));
    return content(here.file("m"));
}

}  // namespace

TEST_CASE("model file: the same answers after loading, the same bytes after saving again") {
    const Directory here;
    for (const std::string backend : {"plain", "cpu"}) {
        if (!try_backend(backend).backend) continue;
        const auto model = flower_model(backend);
        model.save(here.file("a"));
        const auto back = Model::load(here.file("a"), backend);
        back.save(here.file("b"));
        CHECK(content(here.file("a")) == content(here.file("b")));
        CHECK(model.predict(to_ask()).probabilities == back.predict(to_ask()).probabilities);
        CHECK(model.evaluate(csv(flowers)).loss == back.evaluate(csv(flowers)).loss);
        CHECK(back.history().size() == 3);
        CHECK(back.history()[2].validation == model.history()[2].validation);
        CHECK(back.stopped() == Stopped::epochs);
        CHECK(back.categorical() == model.categorical());
        CHECK(back.description() == model.description());
        flower_model(backend).save(here.file("c"));
        CHECK(content(here.file("a")) == content(here.file("c")));
    }
}

TEST_CASE("model file: every kind of model") {
    const Directory here;
    for (const auto scale : {Scale::standard, Scale::minmax, Scale::none}) {
        for (const auto missing : {Missing::error, Missing::mean, Missing::drop}) {
            ModelOptions options = small("width");
            options.target = {"width", "length"};
            options.scale = scale;
            options.missing = missing;
            options.unknown = Unknown::zero;
            options.drop = {"kind"};
            const auto table = csv("length,width,colour,kind,more\n1,2,red,a,5\n2,4,blue,b,3\n3,5,red,c,4\n");
            auto train = short_run();
            train.optimizer = OptimizerKind::sgd;
            train.lr = 0.01;
            train.patience = 1;
            train.target_loss = 0.1;
            const auto model = Model::train(table, options, train).model;
            model.save(here.file("a"));
            const auto back = Model::load(here.file("a"), "plain");
            CHECK(saved(back) == content(here.file("a")));
            const auto ask =
                csv(missing == Missing::error ? "colour,more\ngreen,1\nred,2\n" : "colour,more\ngreen,\n,2\n");
            const auto a = model.predict(ask).values, b = back.predict(ask).values;
            REQUIRE(a.size() == b.size());
            for (std::size_t i = 0; i < a.size(); ++i) CHECK((a[i] == b[i] || (a[i] != a[i] && b[i] != b[i])));
        }
    }
    auto options = small("y");
    options.tokens = 3;
    options.layers = parse_layers("embed:2,tanh,dense:2");
    const auto model = Model::train(csv("a,b,y\n0,1,u\n1,2,v\n2,0,u\n"), options, short_run()).model;
    model.save(here.file("t"));
    const auto back = Model::load(here.file("t"), "plain");
    CHECK(saved(back) == content(here.file("t")));
    CHECK(back.predict(csv("a,b\n2,2\n")).probabilities == model.predict(csv("a,b\n2,2\n")).probabilities);
}

TEST_CASE("model file: what it says") {
    const auto json = Json::parse(flower_model().description());
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"format", "input", "layers", "loss", "seed", "n_params", "columns", "target",
                                           "scale", "missing", "unknown", "training", "history", "stopped", "data"});
    CHECK(json["layers"] == Json{"dense:4", "relu", "dense:2"});
    CHECK(json["n_params"] == 34);
    CHECK(json["columns"][2] == Json({{"name", "colour"}, {"kind", "text"}, {"values", {"blue", "red", "white"}}}));
    CHECK(json["columns"][0].contains("mean"));
    CHECK(json["target"] == Json({{"names", {"kind"}}, {"classes", {"iris", "rose"}}}));
    CHECK(json["training"]["lr"] == 0.005);
    CHECK(json["data"]["rows"] == 6);
    CHECK(json["data"]["xxh3"].get<std::string>().size() == 32);
}

TEST_CASE("model file: the checksum covers inputs, answers and weights") {
    const auto mark = [](const std::string& text, const std::string& weights = "") {
        auto options = small("y");
        options.scale = Scale::none;
        options.sample_weights = weights;
        if (weights.empty()) options.drop = {"w"};
        const auto model = Model::train(csv(text), options, short_run(1)).model;
        return Json::parse(model.description())["data"]["xxh3"].get<std::string>();
    };
    const auto base = mark("x,y,w\n1,2,1\n2,3,2\n");
    CHECK(base == mark("x,y,w\n1.0,2,1\n2,3,5\n"));
    CHECK(base != mark("x,y,w\n1,2,1\n2,4,2\n"));
    CHECK(base != mark("x,y,w\n1,2,1\n3,3,2\n"));
    CHECK(base != mark("x,y,w\n1,2,1\n2,3,2\n", "w"));
}

TEST_CASE("network file: round trips, and models are networks too") {
    const Directory here;
    for (const std::string backend : {"plain", "cpu"}) {
        if (!try_backend(backend).backend) continue;
        const Network network(
            {.input = 3, .layers = parse_layers("dense:5,tanh,dense:2"), .seed = 2.5, .backend = backend});
        network.save(here.file("n"));
        const auto back = Network::load(here.file("n"), backend);
        CHECK(back.weights() == network.weights());
        CHECK(back.layers() == network.layers());
        CHECK(back.seed() == 2.5);
        back.save(here.file("n2"));
        CHECK(content(here.file("n")) == content(here.file("n2")));
        const std::vector<double> x{0.1, -2, 3};
        CHECK(back.predict(x) == network.predict(x));
        CHECK(read_safetensors(content(here.file("n")), "n").tensors[0].dtype ==
              (backend == "plain" ? Dtype::f64 : Dtype::f32));
    }
    CHECK_MENTIONS(refusal(Fault::bad_file, [&] { Model::load(here.file("n")); }), "it has no columns");
    const Network words({.input = Tokens{2, 7}, .layers = {embed(3), dense(2)}, .backend = "plain"});
    words.save(here.file("e"));
    CHECK(Network::load(here.file("e"), "plain").weights() == words.weights());
    const auto model = flower_model();
    model.save(here.file("m"));
    CHECK(Network::load(here.file("m"), "plain").weights() == model.network().weights());
    CHECK_MENTIONS(refusal(Fault::bad_file, [&] { Network::load(here.file("no")); }), "No such file");
}

TEST_CASE("model file: tensors are named by layer") {
    const auto file = read_safetensors(saved(flower_model()), "m");
    REQUIRE(file.tensors.size() == 4);
    CHECK(file.tensors[0].name == "0.W");
    CHECK(file.tensors[0].shape == std::vector<std::uint64_t>{4, 5});
    CHECK(file.tensors[1].name == "0.b");
    CHECK(file.tensors[1].shape == std::vector<std::uint64_t>{4});
    CHECK(file.tensors[3].name == "2.b");
}

TEST_CASE("model file: an earlier file is kept where saving fails") {
    const Directory here;
    put(here.file("m"), "old");
    auto model = flower_model();
    CHECK_MENTIONS(refusal(Fault::bad_file, [&] { model.save(here.file("no/m")); }), "cannot be written");
    CHECK_MENTIONS(refusal(Fault::bad_file, [&] { model.save("/dev/full"); }), "No space left");
    CHECK(content(here.file("m")) == "old");
}

TEST_CASE("model file: descriptions that are refused") {
    const auto bytes = saved(flower_model());
    const auto refused = [&](auto change) { return why(changed(bytes, change)); };
    CHECK(refused([](Json&) {}).empty());
    CHECK_MENTIONS(refused([](Json& d) { d["format"] = 7; }),
                   "it has the format 7; this version of shunt reads up to 1");
    CHECK_MENTIONS(refused([](Json& d) { d["format"] = 0; }), "format is 0");
    CHECK_MENTIONS(refused([](Json& d) { d.erase("layers"); }), "has no \"layers\"");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"][0] = "dense:400000000000"; }),
                   "the tensor 0.W is [4, 5]; the layers ask for [400000000000, 5]");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"][0] = "dense:0"; }), "layers");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"][0] = "embed:2"; }), "do not fit the input");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"][1] = "swish"; }), "layers[1]");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"][1] = "relu,relu"; }), "layers[1] is not one layer");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"][2] = "relu"; }), "belong to none of its layers");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"].push_back("dense:2"); }), "ask for a tensor 3.W");
    CHECK_MENTIONS(refused([](Json& d) { d["layers"] = Json::array(); }), "layers is empty");
    CHECK_MENTIONS(refused([](Json& d) { d["input"] = 6; }), "the layers ask for [4, 6]");
    CHECK_MENTIONS(refused([](Json& d) { d["input"] = 1e30; }), "input is not a whole number");
    CHECK_MENTIONS(refused([](Json& d) { d["input"] = {{"tokens", 5}, {"vocab", 3}}; }), "do not fit the input");
    CHECK_MENTIONS(refused([](Json& d) { d["loss"] = "hinge"; }), "loss is no loss");
    CHECK_MENTIONS(refused([](Json& d) { d["seed"] = "x"; }), "seed is not a number");
    CHECK_MENTIONS(refused([](Json& d) { d["n_params"] = 35; }), "n_params is 35; the layers have 34");
    CHECK_MENTIONS(refused([](Json& d) { d["columns"].erase(0); }), "another number of inputs");
    CHECK_MENTIONS(refused([](Json& d) { d["columns"][0]["name"] = "width"; }), "\"width\" twice");
    CHECK_MENTIONS(refused([](Json& d) { d["columns"][0]["kind"] = "date"; }), "columns[0].kind is \"date\"");
    CHECK_MENTIONS(refused([](Json& d) { d["columns"][0]["sd"] = 0; }), "an sd that is not above 0");
    CHECK_MENTIONS(refused([](Json& d) { d["columns"][0].erase("mean"); }), "columns[0] has no \"mean\"");
    CHECK_MENTIONS(refused([](Json& d) { d["columns"][2]["values"] = {"red", "blue", "white"}; }), "not sorted");
    CHECK_MENTIONS(refused([](Json& d) { d["columns"][2]["values"] = {"blue", "blue", "white"}; }), "\"blue\" twice");
    CHECK_MENTIONS(refused([](Json& d) { d["target"]["classes"].push_back("x"); }),
                   "asks for 3 outputs; the network has 2");
    CHECK_MENTIONS(refused([](Json& d) { d["target"]["classes"] = {"x", "x"}; }), "twice");
    CHECK_MENTIONS(refused([](Json& d) { d["target"]["names"] = {"x", "y"}; }), "has 2 names");
    CHECK_MENTIONS(refused([](Json& d) { d["missing"] = "guess"; }), "missing is wrong");
    CHECK_MENTIONS(refused([](Json& d) { d["missing"] = "mean"; }), "has no \"fill\"");
    CHECK_MENTIONS(refused([](Json& d) { d["scale"] = "log"; }), "scale is wrong");
    CHECK_MENTIONS(refused([](Json& d) { d["stopped"] = "bored"; }), "no way to stop");
    CHECK_MENTIONS(refused([](Json& d) { d["history"][0]["loss"] = nullptr; }), "history[0].loss is not a number");
    CHECK_MENTIONS(refused([](Json& d) { d["data"]["xxh3"] = "12"; }), "32 hexadecimal digits");
    CHECK_MENTIONS(refused([](Json& d) { d["training"]["lr"] = Json::array(); }), "neither number nor text");
    CHECK_MENTIONS(refused([](Json& d) { d = 3; }), "is not an object");

    auto content = read_safetensors(bytes, "f");
    content.metadata = {{"other", "x"}};
    CHECK_MENTIONS(why(write_safetensors(content)), "without a description by shunt");
    content.metadata = {{"shunt", "{"}};
    CHECK_MENTIONS(why(write_safetensors(content)), "its description is not JSON");
    // The state of a training that can go on may be there.
    content = read_safetensors(bytes, "f");
    content.tensors.push_back({"opt.m.0.b", Dtype::f64, {4}, {1, 2, 3, 4}});
    CHECK(why(write_safetensors(content)).empty());
    content.tensors.push_back({"4.W", Dtype::f64, {1}, {1}});
    CHECK_MENTIONS(why(write_safetensors(content)), "belong to none");
}

TEST_CASE("model file: every length, every altered header byte") {
    auto options = small("y");
    options.layers = {dense(2)};
    const auto model = Model::train(csv("x,y\n1,a\n2,b\n"), options, short_run(1)).model;
    const auto bytes = saved(model);
    for (std::size_t length = 0; length < bytes.size(); ++length) CHECK(!why(bytes.substr(0, length)).empty());
    CHECK(!why(bytes + '\0').empty());
    const auto header = 8 + static_cast<unsigned char>(bytes[0]) + 256u * static_cast<unsigned char>(bytes[1]);
    std::size_t loaded = 0;
    for (std::size_t i = 0; i < header; ++i) {
        for (const int flip : {1, 2, 4, 32, 128, 255}) {
            auto altered = bytes;
            altered[i] = static_cast<char>(altered[i] ^ flip);
            try {
                const auto other = read_model(altered, "f", "plain", 0);
                ++loaded;  // a name or a number of the description that is as good as what was there
                CHECK(other->network.weights() == model.network().weights());
            } catch (const Error& error) {
                CHECK(error.fault() == Fault::bad_file);
            }
        }
    }
    CHECK(loaded < header);
}

TEST_CASE("model file: format 1 as it was shipped stays readable") {
    const std::string golden = SHUNT_TEST_DATA;
    const auto model = Model::load(golden + "/flowers_format_1.safetensors", "plain");
    CHECK(model.classes() == std::vector<std::string>{"iris", "rose"});
    CHECK(model.history().size() == 3);
    CHECK(saved(model) == content(golden + "/flowers_format_1.safetensors"));
    const auto answers = model.predict(to_ask());
    const auto expected = nlohmann::json::parse(content(golden + "/flowers_format_1.json")).get<std::vector<double>>();
    REQUIRE(answers.probabilities.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(answers.probabilities[i] == doctest::Approx(expected[i]).epsilon(1e-12).scale(0));
}
