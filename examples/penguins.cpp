// From a table to answers: penguins [penguins.csv]
#include <iostream>
#include <shunt/shunt.hpp>

#ifndef SHUNT_EXAMPLES  // the folder of the examples, where the build knows it
#define SHUNT_EXAMPLES "."
#endif

int main(int argc, char** argv) {
    using namespace shunt;
    try {
        const Table table = read_table(argc > 1 ? argv[1] : SHUNT_EXAMPLES "/penguins.csv");
        const Trained trained =
            Model::train(table, {.target = {"species"}, .drop = {"year"}, .missing = Missing::mean, .hold_out = 0.25},
                         {.epochs = 100, .patience = 10});
        std::cout << "accuracy on the " << trained.validation->samples
                  << " rows held out: " << *trained.validation->accuracy
                  << "; of always guessing the most frequent species: " << trained.baseline << "\n";
        trained.model.save("penguins.safetensors");

        const Model model = Model::load("penguins.safetensors");
        const Answers answers = model.predict(table);
        std::cout << "row 1 is a " << model.classes()[*answers.classes[0]] << "\n";
    } catch (const Error& error) {  // one sentence: the value, the limit, the place
        std::cerr << error.what() << "\n";
        return 1;
    }
}
