// The names of a model's choices.
#include "model/names.hpp"

#include "shunt/model.hpp"

namespace shunt {

namespace {

constexpr Names<Scale, 3> scales{"scaling",
                                 {{{Scale::standard, "standard"}, {Scale::minmax, "minmax"}, {Scale::none, "none"}}}};
constexpr Names<Missing, 3> missings{"way to take missing values",
                                     {{{Missing::error, "error"}, {Missing::mean, "mean"}, {Missing::drop, "drop"}}}};
constexpr Names<Unknown, 2> unknowns{"way to take unknown values",
                                     {{{Unknown::error, "error"}, {Unknown::zero, "zero"}}}};

}  // namespace

std::string_view to_string(Scale scale) {
    return scales.of(scale);
}
std::string_view to_string(Missing missing) {
    return missings.of(missing);
}
std::string_view to_string(Unknown unknown) {
    return unknowns.of(unknown);
}
Scale parse_scale(std::string_view text) {
    return scales.parse(text);
}
Missing parse_missing(std::string_view text) {
    return missings.parse(text);
}
Unknown parse_unknown(std::string_view text) {
    return unknowns.parse(text);
}

}  // namespace shunt
