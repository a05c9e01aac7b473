// Products of a program, each where it is faster: the same matrix by one row after the other, then by many at once.
// Prints what was decided, and why. Works without a card too.
#include <cstdio>
#include <shunt/shunt.hpp>
#include <vector>

using namespace shunt;

int main() {
    const auto worker = offload::SharedWorker::open();
    if (!worker) std::printf("Everything on the CPU: %s\n", worker.reason().c_str());
    offload::GpuBackend card(worker);
    const offload::ScopedAccelerator use_card(card);

    constexpr std::size_t n = 512;
    const std::vector<float> row(n, 1.0f), rows(64 * n, 1.0f), matrix(n * n, 0.5f);
    const offload::Weight weight;  // the card knows the matrix by it
    float sum = 0;
    for (int i = 0; i < 20; i++) sum = ops::matmul({row, {1, n}}, {matrix, {n, n}, weight}).values[0];
    const auto many = ops::matmul({rows, {64, n}}, {matrix, {n, n}, weight});
    std::printf("%g %g\n%s", sum, many.values[0], card.report().c_str());
    return sum == n / 2 && many.values[0] == n / 2 ? 0 : 1;  // sums of whole halves: exact on either side
}
