// The end of a training run.
#include "summary.hpp"

#include "shunt/file.hpp"
#include "shunt/gpu.hpp"

namespace shunt::cli {
namespace {

Json maybe(std::optional<double> value) {
    return value ? Json(*value) : Json(nullptr);
}

std::string cell(std::optional<double> value) {
    return value ? to_text(*value) : "";
}

// The mean loss of the last complete epoch; none where the first one was interrupted.
std::optional<double> training_loss(const Trained& trained) {
    if (trained.result.history.empty()) return std::nullopt;
    return trained.result.loss;
}

std::string how_it_went(const TrainCommand& c, const Trained& trained) {
    const TrainResult& result = trained.result;
    const std::size_t n = result.history.size();
    std::string out = "trained for " + counted(n, "epoch", "epochs");
    if (n != static_cast<std::size_t>(c.train.epochs)) out += " of " + std::to_string(c.train.epochs);
    out += " in " + short_text(result.seconds) + " s on " + std::string(trained.model.network().backend());
    switch (result.stopped) {
        case Stopped::epochs: break;
        case Stopped::patience: out += "; no improvement since epoch " + std::to_string(result.best_epoch); break;
        case Stopped::target_loss: out += "; the target loss is reached"; break;
        case Stopped::on_epoch:
        case Stopped::interrupted: out += "; " + std::string(to_string(result.stopped)); break;
    }
    out += ".\n";
    if (const auto& settled = trained.model.network().settled()) out += settled->why + "\n";
    if (c.train.patience && n > 0 && result.best_epoch != result.history.back().epoch)
        out += "The weights are those of epoch " + std::to_string(result.best_epoch) + ".\n";
    return out;
}

// Of the card that the network ended on.
Json adapter(const Network& network) {
    return network.backend() == "gpu" ? Json(gpu::of(network).adapter().name) : Json(nullptr);
}

Json settled(const Network& network) {
    if (!network.settled()) return nullptr;
    const Settled& s = *network.settled();
    Json out = {{"backend", s.backend}, {"n", s.n}, {"batch", s.batch}, {"steps", s.steps}};
    out["seconds_per_step"] = s.seconds_per_step;
    out["from_memory"] = s.from_memory;
    out["why"] = s.why;
    return out;
}

std::vector<std::string> score_row(const std::string& name, const Score& score) {
    std::vector<std::string> row = {name, std::to_string(score.samples), to_text(score.loss)};
    if (score.accuracy) {
        row.push_back(cell(score.accuracy));
    } else {
        row.insert(row.end(), {cell(score.rmse), cell(score.r2)});
    }
    return row;
}

std::string scores(const Trained& trained) {
    const bool classes = trained.training.accuracy.has_value();
    std::vector<std::vector<std::string>> rows;
    if (classes) {
        rows.push_back({"", "rows", "loss", "accuracy"});
    } else {
        rows.push_back({"", "rows", "loss", "rmse", "r2"});
    }
    rows.push_back(score_row("training", trained.training));
    if (trained.validation) rows.push_back(score_row("held out", *trained.validation));
    rows.push_back({"baseline", "", "", cell(trained.baseline)});
    return in_columns(rows, {false, true, true, true, true});
}

}  // namespace

std::string network_in_words(const Network& network) {
    std::vector<std::string> layers;
    for (const Layer& layer : network.layers()) layers.push_back(to_string(layer));
    const Input& input = network.input();
    const std::string in =
        input.is_tokens() ? counted(network.n_in(), "token", "tokens") + " below " + std::to_string(input.tokens.vocab)
                          : counted(network.n_in(), "input", "inputs");
    return joined(layers, ",") + " on " + in + ", " + counted(network.n_params(), "parameter", "parameters");
}

void add_score(Json& document, const Score& score) {
    if (score.accuracy) document["accuracy"] = *score.accuracy;
    if (score.rmse) document["rmse"] = *score.rmse;
}

std::string in_words(const TrainCommand& c, const Trained& trained) {
    const bool classes = trained.training.accuracy.has_value();
    std::string out = network_in_words(trained.model.network()) + "\n" + how_it_went(c, trained) + "\n";
    out += scores(trained) + "\n";
    out += classes ? "The baseline always answers with the most frequent class of the training rows.\n"
                   : "The baseline always answers with the mean of the training rows.\n";
    if (trained.dropped > 0) out += counted(trained.dropped, "row", "rows") + " with missing values left out.\n";
    if (!trained.validation) {
        out += std::string(classes ? "The accuracy is" : "rmse and r2 are") +
               " on the training rows: nothing was held out (--hold-out 0.2, --validate FILE).\n";
    }
    if (!c.history.empty()) out += "The history is in " + c.history + ".\n";
    if (!c.output.empty()) return out + "The model is in " + c.output + ".\n";
    return out + "No model was written: -o MODEL writes it.\n";
}

Json as_json(const Trained& trained) {
    const TrainResult& result = trained.result;
    const Model& model = trained.model;
    Json out;
    out["loss"] = maybe(training_loss(trained));
    add_score(out, trained.training);
    out["validation"] = nullptr;
    if (trained.validation) {
        out["validation"] = {{"loss", trained.validation->loss}};
        add_score(out["validation"], *trained.validation);
    }
    out["best_epoch"] = result.best_epoch;
    out["epochs"] = result.history.size();
    out["stopped"] = to_string(result.stopped);
    out["backend"] = model.network().backend();
    out["adapter"] = adapter(model.network());
    out["seconds"] = result.seconds;
    out["n_params"] = model.network().n_params();
    out["classes"] = model.classes().empty() ? Json(nullptr) : Json(model.classes());
    out["history"] = Json::array();
    for (const Epoch& epoch : result.history) {
        out["history"].push_back(
            {{"epoch", epoch.epoch}, {"loss", epoch.loss}, {"validation", maybe(epoch.validation)}});
    }
    out["settled"] = settled(model.network());
    out["notes"] = result.notes;
    return out;
}

std::string history_csv(const std::vector<Epoch>& history) {
    std::string out = "epoch,loss,validation\n";
    for (const Epoch& epoch : history) {
        out += std::to_string(epoch.epoch) + "," + to_text(epoch.loss) + "," + cell(epoch.validation) + "\n";
    }
    return out;
}

}  // namespace shunt::cli
