// shunt devices: what computes here, and what a card that does not is missing.
#include "commands.hpp"
#include "print.hpp"
#include "shunt/backend.hpp"
#include "shunt/gpu.hpp"

namespace shunt::cli {
namespace {

std::string about(const std::string& name) {
    if (name == "plain") return "double precision, one thread, the same bits everywhere: the reference";
    if (name == "gpu") return "float32, on a graphics card through WebGPU";
    if (name == "cpu") return "float32, oneDNN, as many threads as the work pays for";
    return "";
}

std::string in_mib(std::uint64_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

Json as_json(const Adapter& a) {
    return {{"name", a.name},
            {"kind", a.kind},
            {"driver", a.driver},
            {"max_buffer", a.max_buffer},
            {"max_binding", a.max_binding},
            {"workgroup_memory", a.workgroup_memory},
            {"max_invocations", a.max_invocations},
            {"max_groups", a.max_groups},
            {"max_storage_buffers", a.max_storage_buffers},
            {"features", a.features},
            {"used", a.used},
            {"reason", a.reason}};
}

std::string in_words(std::size_t number, const Adapter& a) {
    const std::string first = std::to_string(number) + "  ", more(first.size(), ' ');
    return first + a.name + ", " + a.kind + ", " + (a.used ? "used: " : "not used: ") + a.reason + "\n" +  //
           more + "driver " + (a.driver.empty() ? "unknown" : a.driver) + "\n" +                           //
           more + "buffers of " + in_mib(a.max_buffer) + ", bindings of " + in_mib(a.max_binding) + ", " +
           std::to_string(a.max_storage_buffers) + " of them a kernel\n" +  //
           more + "workgroups of " + std::to_string(a.max_invocations) + " with " +
           std::to_string(a.workgroup_memory >> 10) + " KiB, " + std::to_string(a.max_groups) + " along a side\n" +
           more + (a.features.empty() ? "none of the features f16, subgroups, timestamps" : joined(a.features)) + "\n";
}

int doctor(bool json) {
    const Diagnosis diagnosis = diagnose();
    Json document{{"works", diagnosis.works}, {"checks", Json::array()}};
    std::string text;
    for (const Check& check : diagnosis.checks) {
        document["checks"].push_back({{"check", check.what},
                                      {"ok", check.ok},
                                      {"found", check.found},
                                      {"advice", check.ok ? Json(nullptr) : Json(check.advice)}});
        text += (check.ok ? "ok       " : "missing  ") + one_line(check.what + ": " + check.found) + "\n";
        if (!check.ok) text += "         " + check.advice + "\n";
    }
    text += diagnosis.works ? "\nA graphics card works.\n" : "\nNo graphics card works; plain and cpu do.\n";
    print(json ? to_json_text(document) : text);
    return diagnosis.works ? 0 : 1;
}

int list(bool json) {
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
    const AdapterList all = list_adapters();
    std::string adapters;
    for (std::size_t i = 0; i < all.adapters.size(); i++) {
        document["adapters"].push_back(as_json(all.adapters[i]));
        adapters += in_words(i, all.adapters[i]);
    }
    if (json) {
        print(to_json_text(document));
        return 0;
    }
    print(in_columns(rows, {false, false, false}));
    print(adapters.empty() ? "\nGraphics adapters: none. " + all.reason + "\n" : "\nGraphics adapters\n" + adapters);
    print(
        "\n--backend names a backend; auto, the default, measures which is faster. --doctor says what a card is "
        "missing.\n");
    return 0;
}

}  // namespace

int devices(Arguments arguments) {
    bool json = false, diagnosis = false;
    CommandLine line("devices", "[options]", "Lists what can compute here, and why or why not.");
    line.group("Options");
    line.flag("--doctor", diagnosis, "look for all that a card needs; exit 1 where none works");
    line.flag("--json", json, "print one JSON document");
    line.example("shunt devices --doctor");
    if (!line.parse(arguments)) return 0;
    return diagnosis ? doctor(json) : list(json);
}

}  // namespace shunt::cli
