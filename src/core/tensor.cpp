// Shapes and views.
#include "shunt/tensor.hpp"

#include <limits>

#include "shunt/error.hpp"

namespace shunt {

Shape::Shape(std::initializer_list<std::size_t> sizes) {
    for (std::size_t size : sizes) push_back(size);
}

void Shape::push_back(std::size_t new_size) {
    if (rank_ == max_rank) throw Error(Fault::bad_argument, "A shape has at most 6 sizes; " + str() + " has them.");
    const std::size_t before = size();
    if (new_size != 0 && before > std::numeric_limits<std::size_t>::max() / sizeof(double) / new_size) {
        throw Error(Fault::bad_argument, "A tensor of " + str() + " times " + std::to_string(new_size) +
                                             " values is past what memory can address.");
    }
    sizes_[rank_++] = new_size;
}

std::size_t Shape::size() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis < rank_; axis++) product *= sizes_[axis];
    return product;
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
