// Operators by themselves: fits y = w·x by gradient descent, with a backend and an optimizer.
#include <array>
#include <cmath>
#include <iostream>
#include <shunt/shunt.hpp>

int main() {
    using namespace shunt;
    const auto backend = make_backend("cpu");
    const std::array x{1.0, 2.0, 3.0, 4.0}, y{2.5, 5.0, 7.5, 10.0};  // y = 2.5·x
    const Tensor inputs = backend->upload(x, {4, 1}), targets = backend->upload(y, {4, 1});
    const Tensor w = backend->zeros({1, 1}), b = backend->zeros({1}), dw = backend->zeros({1, 1});

    Optimizer optimizer({.lr = 0.05}, backend, {{w, dw}});
    for (int step = 0; step < 500; step++) {
        const Loss loss = backend->mse(affine(*backend, inputs, w, b), targets);
        backend->affine_grad(inputs, w, loss.gradient, {.dw = dw, .need_dx = false});
        optimizer.step(0.25);  // the gradient is summed over the four samples
    }
    const double found = backend->read(w)[0];
    std::cout << "w = " << found << "\n";
    return std::abs(found - 2.5) < 1e-3 ? 0 : 1;
}
