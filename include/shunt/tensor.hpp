// A tensor: a shape, a type, and values that a backend keeps somewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

namespace shunt {

// Up to six sizes, the last one contiguous in memory (row-major).
class Shape {
public:
    static constexpr std::size_t max_rank = 6;

    Shape() = default;
    // bad_argument past six sizes, and past what memory can address.
    Shape(std::initializer_list<std::size_t> sizes) {
        for (std::size_t size : sizes) push_back(size);
    }

    std::size_t rank() const { return rank_; }
    std::size_t operator[](std::size_t axis) const { return sizes_[axis]; }
    std::size_t size() const { return product_; }  // 1 for rank 0
    void push_back(std::size_t size) {
        constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / sizeof(double);
        std::size_t product = 0;
        if (rank_ == max_rank || __builtin_mul_overflow(product_, size, &product) || product > most) refuse(size);
        sizes_[rank_++] = size;
        product_ = product;
    }

    std::string str() const;  // "[64, 784]"

    bool operator==(const Shape&) const = default;

private:
    [[noreturn]] void refuse(std::size_t next) const;

    std::array<std::size_t, max_rank> sizes_{};
    std::size_t rank_ = 0;
    std::size_t product_ = 1;
};

// plain keeps f32 as double, and so rounds nothing.
enum class Type { f32, u32 };

// Where a backend keeps values. Each backend has its own kind.
class Storage {
public:
    virtual ~Storage() = default;
};

// Cheap to copy: copies share the values. A tensor means something only to the backend that made it.
struct Tensor {
    Shape shape;
    Type type = Type::f32;
    std::size_t offset = 0;  // of the first value in the storage, in values
    std::shared_ptr<Storage> storage;

    // "no tensor": an option that is not given. A tensor of size 0 does exist.
    bool exists() const { return storage != nullptr; }
    std::size_t size() const { return shape.size(); }

    // As a matrix: the last size, and all the sizes before it together.
    std::size_t cols() const { return shape.rank() == 0 ? 1 : shape[shape.rank() - 1]; }
    std::size_t rows() const;

    // `view_shape.size()` values from `first` on, sharing the storage. bad_argument past the end.
    Tensor view(std::size_t first, Shape view_shape) const;
};

}  // namespace shunt
