// See feed.hpp.
#include "net/feed.hpp"

#include <algorithm>
#include <numeric>

namespace shunt {
namespace {

constexpr std::size_t piece_values = std::size_t{1} << 20;  // 4 MB: some milliseconds of a bus

EpochData upload(Backend& backend, const Samples& s, bool answers) {
    if (answers) return epoch_data(backend, s);
    EpochData data;
    data.n = s.n;
    const std::size_t cols = (s.tokens.size() + s.inputs.size()) / std::max<std::size_t>(s.n, 1);
    data.inputs = s.tokens.empty() ? backend.upload(s.inputs, {s.n, cols}) : backend.upload(s.tokens, {s.n, cols});
    return data;
}

}  // namespace

Feed::Feed(Backend& backend, const Samples& samples, std::size_t batch, FeedOptions options)
    : backend_(backend), samples_(samples), batch_(batch), answers_(options.answers) {
    const auto too_large = [](const Error& error) { return error.fault() == Fault::out_of_memory; };
    if (options.whole) {
        try {
            all_ = upload(backend, samples, answers_);
            return;
        } catch (const Error& error) {
            if (!too_large(error) || samples.n <= batch) throw;
        }
    }
    const std::size_t values = samples.inputs.size() + samples.tokens.size() + samples.targets.size() +
                               samples.classes.size() + samples.weights.size();
    const std::size_t each = std::max<std::size_t>(values / std::max<std::size_t>(samples.n, 1), 1);
    for (std::size_t batches = std::max<std::size_t>(piece_values / each / batch, 1);; batches /= 2) {
        rows_ = std::min(batches * batch, samples.n);
        try {
            make_pieces();
            return;
        } catch (const Error& error) {
            if (!too_large(error) || batches == 1) throw;
        }
    }
}

void Feed::make_pieces() {
    const Samples& s = samples_;
    const std::size_t n_pieces = (s.n + rows_ - 1) / std::max<std::size_t>(rows_, 1);
    pieces_ = {};
    for (std::size_t i = 0; i < std::min<std::size_t>(n_pieces, 2); i++) {
        EpochData& piece = pieces_[i];
        piece.inputs = s.tokens.empty() ? backend_.empty({rows_, s.inputs.size() / s.n})
                                        : backend_.empty({rows_, s.tokens.size() / s.n}, Type::u32);
        if (!answers_) continue;
        piece.answers =
            s.classes.empty() ? backend_.empty({rows_, s.targets.size() / s.n}) : backend_.empty({rows_}, Type::u32);
        if (!s.weights.empty()) piece.weights = backend_.empty({rows_});
    }
    losses_.clear();
    for (std::size_t i = 0; answers_ && i < n_pieces; i++) losses_.push_back(backend_.zeros({rows_}));
}

void Feed::start(std::span<const std::uint32_t> order) {
    if (all_.inputs.exists()) return epoch_order(backend_, all_, order);
    order_ = order;
    filled_ = none;
    for (const Tensor& losses : losses_) backend_.write(losses, std::vector<double>(rows_, 0.0));
    // The rows of a piece are in order already. They are named all the same, so that a batch goes the
    // same way through the backend as out of whole samples.
    std::vector<std::uint32_t> in_order(rows_);
    std::iota(in_order.begin(), in_order.end(), 0);
    for (EpochData& piece : pieces_) {
        if (piece.inputs.exists() && !piece.rows.exists()) piece.rows = backend_.upload(in_order, {rows_});
    }
}

Feed::Batch Feed::at(std::size_t first) {
    const std::size_t count = std::min(batch_, samples_.n - first);
    if (all_.inputs.exists()) return {all_, first, count};
    const std::size_t piece = first / rows_;
    if (piece != filled_) fill(piece);
    return {pieces_[piece % 2], first - piece * rows_, count};
}

void Feed::fill(std::size_t piece) {
    const std::size_t first = piece * rows_, count = std::min(rows_, samples_.n - first);
    EpochData& to = pieces_[piece % 2];
    const auto send = [&]<typename T>(const std::vector<T>& values, const Tensor& tensor) {
        if (values.empty() || !tensor.exists()) return;
        const std::size_t cols = values.size() / samples_.n;
        const std::span<const T> all(values);
        std::vector<T> gathered;
        if (!order_.empty()) gathered.reserve(count * cols);
        for (std::size_t i = first; !order_.empty() && i < first + count; i++) {
            const auto row = all.subspan(order_[i] * cols, cols);
            gathered.insert(gathered.end(), row.begin(), row.end());
        }
        const std::span<const T> rows = order_.empty() ? all.subspan(first * cols, count * cols) : gathered;
        backend_.write(tensor.view(0, {rows.size()}), rows);
    };
    send(samples_.inputs, to.inputs);
    send(samples_.tokens, to.inputs);
    send(samples_.classes, to.answers);
    send(samples_.targets, to.answers);
    send(samples_.weights, to.weights);
    to.n = count;
    if (answers_) to.losses = losses_[piece];
    filled_ = piece;
}

std::vector<double> Feed::losses() {
    if (all_.inputs.exists()) return epoch_loss(backend_, all_, batch_);
    std::vector<double> sums;
    for (std::size_t i = 0; i < losses_.size(); i++) {
        EpochData piece;
        piece.n = std::min(rows_, samples_.n - i * rows_);
        piece.losses = losses_[i];
        const std::vector<double> some = epoch_loss(backend_, piece, batch_);
        sums.insert(sums.end(), some.begin(), some.end());
    }
    return sums;
}

}  // namespace shunt
