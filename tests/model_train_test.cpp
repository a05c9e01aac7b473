// Training a model: roles of columns, targets, scores, and what is refused.
#include <cmath>

#include "core/text.hpp"
#include "failing_backend.hpp"
#include "model/hold_out.hpp"
#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

std::string why(const std::string& text, const ModelOptions& options, const Table* validate = nullptr) {
    return refusal([&] { Model::train(csv(text), options, short_run(), validate); });
}

}  // namespace

TEST_CASE("model: learns flowers and says so") {
    auto options = small("kind");
    const auto table = csv(flowers);
    auto trained = Model::train(table, options, short_run(60));
    const auto& model = trained.model;
    CHECK(model.classes() == std::vector<std::string>{"iris", "rose"});
    CHECK(model.targets() == std::vector<std::string>{"kind"});
    CHECK(model.features().size() == 3);
    CHECK(model.network().n_in() == 5);
    CHECK(trained.training.accuracy == 1);
    CHECK(trained.training.confusion == std::vector<std::vector<std::size_t>>{{4, 0}, {0, 4}});
    CHECK(!trained.training.rmse);
    CHECK(!trained.validation);
    CHECK(trained.baseline == 0.5);
    CHECK(trained.result.history.size() == 60);
    CHECK(model.history().size() == 60);
    CHECK(model.categorical() == std::vector<std::string>{"colour"});

    const auto again = model.evaluate(table);
    CHECK(again.loss == trained.training.loss);
    CHECK(again.samples == 8);
    const auto answers = model.predict(csv("colour,width,length,more\nred,0.5,1,0\nblue,0.25,3,0\n"));
    CHECK(answers.names == std::vector<std::string>{"prediction"});
    REQUIRE(answers.classes.size() == 2);
    CHECK(answers.classes[0] == 1);
    CHECK(answers.classes[1] == 0);
    CHECK(answers.probabilities[0] + answers.probabilities[1] == doctest::Approx(1));
    CHECK(answers.values.empty());
}

TEST_CASE("model: the same command trains the network that a program would") {
    const auto table = csv("x,y\n-1,-3\n0,-1\n1,1\n2,3\n3,5\n");
    auto options = small("y");
    options.seed = 3;
    options.scale = Scale::none;
    const auto trained = Model::train(table, options, short_run(3));
    Network network(
        {.input = 1, .layers = {dense(4), relu(), dense(1)}, .loss = LossKind::mse, .seed = 3, .backend = "plain"});
    Samples samples;
    for (int x = -1; x <= 3; ++x) samples.add({static_cast<double>(x)}, {2.0 * x - 1});
    network.train(samples, short_run(3));
    CHECK(trained.model.network().weights() == network.weights());
}

TEST_CASE("model: numeric targets in their own units") {
    const auto table = csv("x,y,z\n-1,-300,1\n0,-100,2\n1,100,3\n2,300,4\n3,500,5\n");
    auto options = small("y");
    options.target = {"y", "z"};
    options.hidden = {};
    for (const auto scale : {Scale::standard, Scale::minmax}) {
        options.scale = scale;
        auto train = short_run(400);
        train.lr = 0.05;
        const auto trained = Model::train(table, options, train);
        CHECK(*trained.training.rmse < 1);
        CHECK(*trained.training.r2 > 0.999);
        CHECK(!trained.training.accuracy);
        CHECK(trained.baseline == doctest::Approx(std::sqrt((5 * 80000.0 + 10) / 10)));
        const auto answers = trained.model.predict(csv("x\n5\n"));
        CHECK(answers.names == std::vector<std::string>{"y", "z"});
        CHECK(answers.values[0] == doctest::Approx(900).epsilon(0.01));
        CHECK(answers.values[1] == doctest::Approx(7).epsilon(0.01));
        CHECK(answers.classes.empty());
    }
    CHECK(!Model::train(table, options, short_run()).model.evaluate(csv("x,y,z\n1,5,2\n")).r2);
}

TEST_CASE("model: classes by value where all are numbers") {
    auto options = small("y");
    options.loss = LossKind::softmax;
    const auto text = "x,y\n1,10\n2,9\n3,1.0\n4,1\n5,-2\n6,1e1\n";
    const auto as_numbers = Model::train(csv(text), options, short_run());
    CHECK(as_numbers.model.classes() == std::vector<std::string>{"-2", "1", "9", "10"});
    const auto as_text = Model::train(csv(text, {"y"}), options, short_run());
    CHECK(as_text.model.classes() == std::vector<std::string>{"-2", "1.0", "9", "10"});
    CHECK(as_numbers.model.network().weights() == as_text.model.network().weights());
    CHECK(as_text.model.evaluate(csv(text)).loss == as_text.training.loss);  // however it was read
    CHECK(as_text.model.categorical().empty());
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { as_text.model.evaluate(csv("x,y\n1,1\n2,3\n")); }),
                   "t.csv:3: the target \"y\" is \"3\", none of the model's classes -2, 1.0, 9, 10");
    const auto words = Model::train(csv("x,y\n1,b\n2,10\n3,9\n4,B\n", {"y"}), options, short_run());
    CHECK(words.model.classes() == std::vector<std::string>{"10", "9", "B", "b"});
    CHECK(words.model.evaluate(csv("x,y\n1,9\n2,10\n")).samples == 2);      // read as numbers this time
    CHECK(words.model.evaluate(csv("x,y\n1,9\n2,b\n3,B\n")).samples == 3);  // as a mixture
}

TEST_CASE("model: roles of columns") {
    auto options = small("kind");
    options.features = {"width", "1"};
    CHECK(Model::train(csv(flowers), options, short_run()).model.features()[0].name == "width");
    options.features = {};
    options.drop = {"colour"};
    CHECK(Model::train(csv(flowers), options, short_run()).model.features().size() == 2);

    const auto refused = [](auto change) {
        auto wrong = small("kind");
        change(wrong);
        return why(flowers, wrong);
    };
    CHECK_MENTIONS(refused([](auto& o) { o.target = {}; }), "needs a target");
    CHECK_MENTIONS(refused([](auto& o) { o.target = {"no"}; }), "no column \"no\"");
    CHECK_MENTIONS(refused([](auto& o) { o.target = {"kind", "4"}; }), "\"kind\" is named twice as target");
    CHECK_MENTIONS(refused([](auto& o) { o.target = {"kind", "width"}; }), "Several targets must all be numbers");
    CHECK_MENTIONS(refused([](auto& o) { o.drop = {"kind"}; }), "is the target and cannot");
    CHECK_MENTIONS(refused([](auto& o) { o.features = {"width", "kind"}; }), "at once");
    CHECK_MENTIONS(refused([](auto& o) { o.sample_weights = "kind"; }), "is the target and cannot");
    CHECK_MENTIONS(refused([](auto& o) { o.drop = {"1", "2", "3"}; }), "no feature is left");
    CHECK_MENTIONS(refused([](auto& o) { o.loss = LossKind::mse; }),
                   "\"kind\" is text, and the loss mse is for numbers");
    CHECK_MENTIONS(refused([](auto& o) { o.layers = {dense(3)}; }),
                   "The last layer gives 3 numbers; the target has 2 classes: iris, rose.");
    CHECK_MENTIONS(refused([](auto& o) { o.tokens = 5; }), "where a number is needed");
    CHECK_MENTIONS(refused([](auto& o) { o.hold_out = 1; }), "between 0 and 1");
    const auto table = csv(flowers);
    auto both = small("kind");
    both.hold_out = 0.5;
    CHECK_MENTIONS(why(flowers, both, &table), "choose one");
    auto numbers = small("length");
    numbers.target = {"length", "width"};
    numbers.layers = {dense(3)};
    CHECK_MENTIONS(why(flowers, numbers), "The last layer gives 3 numbers; the target has 2 columns: length, width.");
}

TEST_CASE("model: tables that nothing can be learned from") {
    CHECK_MENTIONS(why("x,y\n1,2\n", small("y")), "has 1 row; training needs at least 2");
    CHECK_MENTIONS(why("x,y\n1,2\n2,2\n", small("y")), "the target \"y\" is 2 in every training row");
    CHECK_MENTIONS(why("x,y\n1,a\n2,a\n", small("y")), "is a in every training row");
    CHECK_MENTIONS(why("x,y\n1,a\n2,\n", small("y")), "t.csv:3: the target \"y\" has no value");
    CHECK_MENTIONS(why("x,y\n1,a\n2,b\n3,4\n", small("y")), "--categorical");
    CHECK_MENTIONS(why("y\n1\n2\n", small("y")), "no feature is left");
    auto drop = small("y");
    drop.missing = Missing::drop;
    CHECK_MENTIONS(why("x,y\n1,1\n,2\n", drop), "1 row left to train on after those with missing values");
    CHECK_MENTIONS(why("x,y\n,1\n,\n", drop), "has no value");
    auto held = small("y");
    held.hold_out = 0.7;
    CHECK_MENTIONS(why("x,y\n1,1\n2,2\n3,3\n", held), "1 row left to train on beside those held out");
}

TEST_CASE("model: missing values") {
    auto options = small("y");
    options.missing = Missing::drop;
    const auto table = csv("x,y\n1,1\n,5\n2,2\n3,3\n");
    const auto trained = Model::train(table, options, short_run());
    CHECK(trained.dropped == 1);
    CHECK(trained.training.samples == 3);
    CHECK(trained.model.evaluate(table).samples == 3);
    const auto answers = trained.model.predict(table);
    REQUIRE(answers.values.size() == 4);
    CHECK(std::isnan(answers.values[1]));
    CHECK(!std::isnan(answers.values[2]));
    CHECK(std::isnan(trained.model.predict(csv("x,z\n,1\n,2\n")).values[1]));
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { trained.model.evaluate(csv("x,y\n,1\n,2\n")); }),
                   "has no row to evaluate");

    options.target = {"k"};
    const auto classes = Model::train(csv("x,k\n1,a\n,b\n2,b\n3,a\n"), options, short_run());
    const auto some = classes.model.predict(csv("x,z\n1,1\n,2\n"));
    CHECK(some.classes[0]);
    CHECK(!some.classes[1]);
    CHECK(std::isnan(some.probabilities[3]));
}

TEST_CASE("model: weights of samples") {
    auto options = small("y");
    options.sample_weights = "w";
    const std::string twice = "x,y,w\n1,1,2\n2,5,1\n3,4,1\n";
    const auto trained = Model::train(csv(twice), options, short_run());
    CHECK(trained.model.features().size() == 1);
    options.sample_weights = "";
    options.drop = {"w"};
    const auto without = Model::train(csv(twice), options, short_run());
    CHECK(trained.model.network().weights() != without.model.network().weights());
    // A score counts each row once.
    CHECK(trained.model.evaluate(csv("x,y\n1,1\n2,5\n3,4\n")).loss == trained.training.loss);

    options = small("y");
    options.sample_weights = "w";
    CHECK_MENTIONS(why("x,y,w\n1,1,1\n2,2,-1\n", options), "t.csv:3: column \"w\" has the value -1");
    CHECK_MENTIONS(why("x,y,w\n1,1,\n2,2,1\n", options), "t.csv:2: column \"w\" has no value");
    CHECK_MENTIONS(why("x,y,w\n1,1,a\n2,2,b\n", options), "where a number is needed");
}

TEST_CASE("model: held-out rows") {
    std::string text = "x,y\n";
    for (int i = 0; i < 40; ++i) text += std::to_string(i) + "," + (i % 4 == 0 ? "a" : "b") + "\n";
    auto options = small("y");
    options.hold_out = 0.25;
    const auto trained = Model::train(csv(text), options, short_run());
    REQUIRE(trained.validation);
    CHECK(trained.training.samples == 30);
    CHECK(trained.validation->samples == 10);
    CHECK(trained.baseline == 0.7);  // 2.5 and 7.5 rows are due: 3 of a, 7 of b
    CHECK(trained.result.history.back().validation == trained.validation->loss);
    CHECK(trained.model.features()[0].mean != 19.5);  // of the training rows

    const auto validate = csv("y,x\na,4\nb,5\nb,6\n");
    options.hold_out = 0;
    const auto own = Model::train(csv(text), options, short_run(), &validate);
    CHECK(own.training.samples == 40);
    CHECK(own.validation->samples == 3);
    CHECK(own.baseline == doctest::Approx(2.0 / 3));
    CHECK(own.model.network().weights() == Model::train(csv(text), options, short_run()).model.network().weights());
    const auto unknown = csv("y,x\nc,4\n");
    CHECK_MENTIONS(why(text, options, &unknown), "none of the model's classes");
}

TEST_CASE("model: tokens") {
    auto options = small("y");
    options.tokens = 3;
    const auto text = "a,b,y\n0,1,u\n1,2,v\n2,0,u\n";
    CHECK_MENTIONS(why(text, options), "embed:8,dense:2");
    options.layers = parse_layers("embed:2,dense:2");
    const auto trained = Model::train(csv(text), options, short_run());
    CHECK(trained.model.network().n_in() == 2);
    CHECK(trained.warnings.empty());
    CHECK(trained.model.predict(csv("a,b\n2,2\n")).classes.size() == 1);
    options.missing = Missing::mean;
    CHECK_MENTIONS(why(text, options), "--missing drop");
    options.missing = Missing::error;
    options.tokens = 0;
    CHECK_MENTIONS(why(text, options), "A vocabulary of 0");
}

TEST_CASE("model: texts that are not UTF-8 are refused before the training") {
    Table table = csv(flowers);
    table.columns[2].values[0] = "\xff";
    CHECK_MENTIONS(refusal(Fault::bad_data, [&] { Model::train(table, small("kind"), short_run()); }), "not UTF-8");
}

TEST_CASE("model: one that is saved when it is trained outlives a failure of its scoring") {
    const Directory here;
    const auto table = csv(flowers);
    Failures failures;
    failures.fault = Fault::out_of_memory;
    failures.forever = true;
    auto options = small("kind");
    auto expected = Model::train(table, options, short_run()).model.network().weights();
    for (auto& values : expected) {
        for (auto& value : values) value = static_cast<float>(value);  // as the file of a card's model has them
    }
    options.backend = "test card";
    options.on_trained = [&](const Model& model) {
        CHECK(model.history().size() == 2);
        model.save(here.file("m"));
        failures.at = failures.calls;
    };
    CHECK_MENTIONS(refusal(Fault::out_of_memory, [&] { Model::train(table, options, short_run()); }), "fails at call");
    CHECK(Model::load(here.file("m"), "plain").network().weights() == expected);
}

TEST_CASE("model: rows that overflow inside the network have no answer, and are counted") {
    const auto table = csv("a,b,y,z\n0,0,u,0\n0,1,v,1\n1,0,v,1\n1,1,u,0\n");
    // On cpu, in float32: rows 1 and 3 overflow.
    const auto extreme = csv("a,b,y,z\n0,0,u,0\n3e38,3e38,u,0\n0,1,v,1\n3e38,-3e38,v,1\n");
    auto options = small("y");
    options.drop = {"z"};
    options.backend = "cpu";
    options.scale = Scale::none;
    options.hidden = {8, 8, 8};
    options.activation = LayerKind::relu;
    auto train = short_run(60);
    train.lr = 0.1;
    const auto trained = Model::train(table, options, train);
    REQUIRE(trained.training.accuracy == 1);
    CHECK(trained.training.not_finite.empty());
    const std::vector<std::size_t> rows = {1, 3};
    const auto answers = trained.model.predict(extreme);
    CHECK(answers.not_finite == rows);
    CHECK(answers.classes[0] == 0);
    CHECK(answers.classes[2] == 1);
    for (const auto row : rows) {
        CHECK(!answers.classes[row]);
        CHECK(std::isnan(answers.probabilities[2 * row]));
        CHECK(std::isnan(answers.probabilities[2 * row + 1]));
    }
    const auto score = trained.model.evaluate(extreme);
    CHECK(score.not_finite == rows);
    CHECK(score.accuracy == 0.5);
    CHECK(score.confusion == std::vector<std::vector<std::size_t>>{{1, 0}, {0, 1}});

    options.target = {"z"};
    options.drop = {"y"};
    const auto numbers = Model::train(table, options, train);
    const auto values = numbers.model.predict(extreme);
    CHECK(values.not_finite == rows);
    CHECK(std::isfinite(values.values[0]));
    CHECK(std::isnan(values.values[1]));
    CHECK(numbers.model.evaluate(extreme).not_finite == rows);
}

TEST_CASE("model: a validation row that overflows is named, held out or of a table of its own") {
    auto options = small("y");
    options.backend = "cpu";
    options.hidden = {32};  // of which some see what is large
    options.scale = Scale::none;
    const auto validate = read_csv("x,y\n1,2\n1e38,3\n", "v.csv");
    CHECK_MENTIONS(why("x,y\n1,2\n2,4\n", options, &validate), "training samples is: v.csv:3 ");
    const std::string text = "x,y\n1,1\n2,2\n3,3\n1e38,4\n";
    options.hold_out = 0.25;
    for (options.seed = 1; split_rows({0, 1, 2, 3}, {}, 0.25, options.seed).held != Rows{3};) options.seed++;
    CHECK_MENTIONS(why(text, options), "training samples is: t.csv:5 ");
}

TEST_CASE("model: names of the choices") {
    CHECK(parse_scale(to_string(Scale::minmax)) == Scale::minmax);
    CHECK(parse_missing("drop") == Missing::drop);
    CHECK(parse_unknown("zero") == Unknown::zero);
    CHECK_MENTIONS(refusal(Fault::bad_argument, [] { parse_scale("big"); }),
                   "\"big\" is no scaling; there are: standard, minmax, none.");
}

TEST_CASE("model: texts with a value of their own in most rows are warned of, as feature and as target") {
    std::string text = "id,size,price\n";
    for (int i = 0; i < 24; i++)
        text += "n" + std::to_string(i) + "," + std::to_string(i % 7) + ",$" + std::to_string(1000 + i) + "\n";
    const Table table = read_csv(text, "t.csv");
    const auto warnings = Model::train(table, {.target = {"price"}}, {.epochs = 1}).warnings;
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0].find("the target \"price\" is text with 24 classes in 24 rows") != std::string::npos);
    CHECK(warnings[1].find("t.csv: id is text with a value of its own in most rows") != std::string::npos);
}
