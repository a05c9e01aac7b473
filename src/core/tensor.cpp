// Shapes and views.
#include "shunt/tensor.hpp"

#include "shunt/error.hpp"

namespace shunt {

void Shape::refuse(std::size_t next) const {
    if (rank_ == max_rank) throw Error(Fault::bad_argument, "A shape has at most 6 sizes; " + str() + " has them.");
    throw Error(Fault::bad_argument,
                "A tensor of " + str() + " times " + std::to_string(next) + " values is past what memory can address.");
}

std::string Shape::str() const {
    std::string text = "[";
    for (std::size_t axis = 0; axis < rank_; axis++) text += (axis ? ", " : "") + std::to_string(sizes_[axis]);
    return text + "]";
}

std::size_t Tensor::rows() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis + 1 < shape.rank(); axis++) product *= shape[axis];
    return product;
}

Tensor Tensor::view(std::size_t first, Shape view_shape) const {
    if (first > size() || view_shape.size() > size() - first) {
        throw Error(Fault::bad_argument, "A view of " + view_shape.str() + " from value " + std::to_string(first) +
                                             " on does not fit in a tensor of " + shape.str() + ".");
    }
    Tensor t = *this;
    t.shape = view_shape;
    t.offset += first;
    return t;
}

}  // namespace shunt
