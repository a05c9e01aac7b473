// oneDNN 2.6: products, convolutions, tanh and sigmoid, each primitive made once per shape.
//
// Plain row-major strides throughout: measured on the products of training, where weights change at
// every step, formats of oneDNN's own choice cost more in reorders than they gain. A primitive keeps
// the thread count it was made with; running it with more threads set does no harm.
#include "cpu/dnnl.hpp"

#include <omp.h>

#include <dnnl.hpp>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

namespace shunt::cpu {
namespace {

using dnnl::memory;
using Desc = memory::desc;
constexpr auto f32 = memory::data_type::f32;

// Sets OpenMP's thread count for this scope: it belongs to the caller's thread, and to his program.
class Threads {
public:
    explicit Threads(int n) : before_(omp_get_max_threads()) {
        if (n != before_) omp_set_num_threads(n);
        changed_ = n != before_;
    }
    ~Threads() {
        if (changed_) omp_set_num_threads(before_);
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

private:
    int before_;
    bool changed_ = false;
};

dnnl::algorithm algorithm(Activation kind) {
    return kind == Activation::tanh ? dnnl::algorithm::eltwise_tanh : dnnl::algorithm::eltwise_logistic;
}

// A primitive with its memories, whose addresses are set before each run.
struct Ready {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> memories;

    void set(int argument, const float* data) {
        const auto found = memories.find(argument);
        if (found != memories.end()) found->second.set_data_handle(const_cast<float*>(data));
    }
};

}  // namespace

struct Dnnl::Impl {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::map<std::pair<Product, int>, Ready> products;
    std::map<std::pair<Convolution, int>, Ready> convolutions;
    std::map<std::pair<Elementwise, int>, Ready> elementwise;

    memory place(const Desc& desc) { return {desc, engine, nullptr}; }

    Ready make(const Product& p) {
        dnnl::primitive_attr attributes;
        dnnl::post_ops after;
        if (p.accumulate) after.append_sum(1.0f);
        if (p.activation != Activation::none) after.append_eltwise(1.0f, algorithm(p.activation), 0.0f, 0.0f);
        attributes.set_post_ops(after);
        const auto matrix = [](std::int64_t batch, std::int64_t rows, std::int64_t cols, bool transposed) {
            return Desc({batch, rows, cols}, f32,
                        transposed ? memory::dims{rows * cols, 1, rows} : memory::dims{rows * cols, cols, 1});
        };
        Desc a = matrix(p.one_a ? 1 : p.batch, p.m, p.k, p.trans_a),
             b = matrix(p.one_b ? 1 : p.batch, p.k, p.n, p.trans_b);
        Desc c = matrix(p.batch, p.m, p.n, false), bias({1, 1, p.n}, f32, memory::dims{p.n, p.n, 1});
        if (p.batch == 1) {  // the 2-d kernels are the faster ones
            const auto flat = [](const Desc& d, std::int64_t rows, std::int64_t cols, bool transposed) {
                return Desc({rows, cols}, d.data_type(), transposed ? memory::dims{1, rows} : memory::dims{cols, 1});
            };
            a = flat(a, p.m, p.k, p.trans_a), b = flat(b, p.k, p.n, p.trans_b), c = flat(c, p.m, p.n, false);
            bias = Desc({1, p.n}, f32, memory::dims{p.n, 1});
        }
        const auto desc = p.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
        Ready ready{dnnl::matmul(dnnl::matmul::primitive_desc(desc, attributes, engine)),
                    {{DNNL_ARG_SRC, place(a)}, {DNNL_ARG_WEIGHTS, place(b)}, {DNNL_ARG_DST, place(c)}}};
        if (p.bias) ready.memories.emplace(DNNL_ARG_BIAS, place(bias));
        return ready;
    }

    Ready make(const Convolution& v) {
        dnnl::primitive_attr attributes;
        dnnl::post_ops after;
        if (v.activation != Activation::none) after.append_eltwise(1.0f, algorithm(v.activation), 0.0f, 0.0f);
        attributes.set_post_ops(after);
        const Desc x({v.n, v.c, v.h, v.w}, f32, memory::format_tag::nchw);
        const Desc weight = v.groups == 1 ? Desc({v.filters, v.c, v.kh, v.kw}, f32, memory::format_tag::oihw)
                                          : Desc({v.groups, v.filters / v.groups, v.c / v.groups, v.kh, v.kw}, f32,
                                                 memory::format_tag::goihw);
        const Desc y({v.n, v.filters, v.out_h, v.out_w}, f32, memory::format_tag::nchw);
        const Desc bias({v.filters}, f32, memory::format_tag::x);
        // What is left on the far side after the last stride is no padding: oneDNN wants it exact.
        const auto far = [](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                            std::int64_t pad, std::int64_t dilation) {
            return (out - 1) * stride + dilation * (kernel - 1) + 1 - in - pad;
        };
        const memory::dims strides{v.stride_h, v.stride_w}, dilates{v.dilation_h - 1, v.dilation_w - 1};
        const memory::dims near_pad{v.pad_h, v.pad_w};
        const memory::dims far_pad{far(v.h, v.out_h, v.kh, v.stride_h, v.pad_h, v.dilation_h),
                                   far(v.w, v.out_w, v.kw, v.stride_w, v.pad_w, v.dilation_w)};
        constexpr auto kind = dnnl::prop_kind::forward_inference;
        constexpr auto direct = dnnl::algorithm::convolution_direct;
        using Forward = dnnl::convolution_forward;
        const auto desc = v.bias ? Forward::desc(kind, direct, x, weight, bias, y, strides, dilates, near_pad, far_pad)
                                 : Forward::desc(kind, direct, x, weight, y, strides, dilates, near_pad, far_pad);
        Ready ready{Forward(Forward::primitive_desc(desc, attributes, engine)),
                    {{DNNL_ARG_SRC, place(x)}, {DNNL_ARG_WEIGHTS, place(weight)}, {DNNL_ARG_DST, place(y)}}};
        if (v.bias) ready.memories.emplace(DNNL_ARG_BIAS, place(bias));
        return ready;
    }

    Ready make(const Elementwise& e) {
        const Desc x({e.n}, f32, memory::format_tag::x);
        const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm(e.activation), x, 0.0f,
                                               0.0f);
        return {dnnl::eltwise_forward(dnnl::eltwise_forward::primitive_desc(desc, engine)),
                {{DNNL_ARG_SRC, place(x)}, {DNNL_ARG_DST, place(x)}}};
    }

    template <typename What>
    void run(std::map<std::pair<What, int>, Ready>& kept, const What& what, int threads,
             std::initializer_list<std::pair<int, const float*>> data) {
        constexpr std::size_t most_kept = 1024;
        const Threads scope(threads);
        try {
            auto found = kept.find({what, threads});
            if (found == kept.end()) {
                if (kept.size() >= most_kept) kept.clear();
                found = kept.emplace(std::pair{what, threads}, make(what)).first;
            }
            for (const auto& [argument, address] : data) found->second.set(argument, address);
            found->second.primitive.execute(stream, found->second.memories);
            stream.wait();
        } catch (const dnnl::error& error) {
            throw Error(error.status == dnnl_out_of_memory ? Fault::out_of_memory : Fault::unsupported,
                        std::string("oneDNN: ") + error.what() + ".");
        }
    }
};

Dnnl::Dnnl() : impl_(std::make_unique<Impl>()) {}
Dnnl::~Dnnl() = default;

void Dnnl::run(const Product& what, int threads, const float* a, const float* b, const float* bias, float* c) {
    impl_->run(impl_->products, what, threads,
               {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, c}});
}

void Dnnl::run(const Convolution& what, int threads, const float* x, const float* weight, const float* bias, float* y) {
    impl_->run(impl_->convolutions, what, threads,
               {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, y}});
}

void Dnnl::run(const Elementwise& what, int threads, const float* x, float* y) {
    impl_->run(impl_->elementwise, what, threads, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
}

}  // namespace shunt::cpu
