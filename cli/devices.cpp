// shunt devices: what computes here.
#include "commands.hpp"
#include "print.hpp"
#include "shunt/backend.hpp"

namespace shunt::cli {
namespace {

std::string about(const std::string& name) {
    if (name == "plain") return "double precision, one thread, the same bits everywhere: the reference";
    if (name == "cpu") return "float32, oneDNN, as many threads as the work pays for";
    return "";
}

}  // namespace

int devices(Arguments arguments) {
    bool json = false;
    CommandLine line("devices", "[options]", "Lists what can compute here, and why or why not.");
    line.group("Options");
    line.flag("--json", json, "print one JSON document");
    if (!line.parse(arguments)) return 0;

    Json document;
    document["backends"] = Json::array();
    document["adapters"] = Json::array();
    std::vector<std::vector<std::string>> rows;
    for (const std::string& name : backend_names()) {
        const TriedBackend tried = try_backend(name);
        const bool works = tried.backend != nullptr;
        document["backends"].push_back(
            {{"name", name}, {"available", works}, {"reason", works ? Json(nullptr) : Json(tried.reason)}});
        rows.push_back({name, works ? "yes" : "no", works ? about(name) : tried.reason});
    }
    if (json) {
        print(to_json_text(document));
        return 0;
    }
    print(in_columns(rows, {false, false, false}) +
          "\nThis version computes on the CPU. --backend names one; auto, the default, takes cpu.\n");
    return 0;
}

}  // namespace shunt::cli
