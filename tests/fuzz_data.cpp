// Fuzzes the readers of tables: whatever the bytes, a sound table or an Error. (fuzz_main.cpp runs it.)
//
// The first byte chooses the reader.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "data/formats.hpp"

namespace {

void require(bool truth) {
    if (!truth) std::abort();
}

void check(const shunt::Table& table) {
    require(table.rows > 0 && !table.columns.empty());
    require(table.lines.empty() || table.lines.size() == table.rows);
    for (const shunt::Column& column : table.columns) {
        require(!column.name.empty());
        const bool numeric = column.kind == shunt::ColumnKind::numeric;
        require((numeric ? column.numbers.size() : column.codes.size()) == table.rows);
        for (const double x : column.numbers) require(!std::isinf(x));
        for (const std::uint32_t code : column.codes) {
            require(code == shunt::Column::missing || code < column.values.size());
        }
        require(column.n_missing() <= table.rows);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const std::string input(reinterpret_cast<const char*>(bytes + 1), size - 1);
    // A gzip file of a few bytes can be a table of a million columns: slow, and nothing new.
    if (shunt::data::is_gzip(input) && size > 1000) return 0;
    try {
        switch (bytes[0] % 5) {
            case 0: check(shunt::read_csv(input, "fuzz")); break;
            case 1: check(shunt::read_csv(input, "fuzz", {.header = bytes[0] & 64, .categorical = {"1"}})); break;
            case 2: check(shunt::parse_table(input, "fuzz")); break;
            case 3: check(shunt::parse_table(input, "fuzz", {.categorical = {"1"}, .target = "y"})); break;
            case 4:
                if (shunt::data::is_npy(input)) shunt::data::label_column(shunt::data::parse_npy(input, "fuzz"));
                if (shunt::data::is_idx(input)) shunt::data::label_column(shunt::data::parse_idx(input, "fuzz"));
                if (shunt::data::is_gzip(input)) shunt::data::gunzip(input, "fuzz");
                break;
        }
    } catch (const shunt::Error&) {
    }
    return 0;
}
