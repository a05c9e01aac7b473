// shunt devices: what computes here.
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
    const AdapterList list = list_adapters();
    std::vector<std::vector<std::string>> adapters;
    for (const Adapter& a : list.adapters) {
        document["adapters"].push_back({{"name", a.name},
                                        {"kind", a.kind},
                                        {"driver", a.driver},
                                        {"max_buffer", a.max_buffer},
                                        {"max_binding", a.max_binding},
                                        {"workgroup_memory", a.workgroup_memory},
                                        {"max_invocations", a.max_invocations},
                                        {"used", a.used},
                                        {"reason", a.reason}});
        adapters.push_back(
            {std::to_string(adapters.size()), a.name, a.kind, a.driver, a.used ? "used:" : "not used:", a.reason});
    }
    if (json) {
        print(to_json_text(document));
        return 0;
    }
    print(in_columns(rows, {false, false, false}));
    if (adapters.empty()) {
        print("\nGraphics adapters: none. " + list.reason + "\n");
    } else {
        print("\nGraphics adapters\n" + in_columns(adapters, {true, false, false, false, false, false}));
    }
    print("\n--backend names a backend; auto, the default, takes cpu for now.\n");
    return 0;
}

}  // namespace shunt::cli
