// What the worker's thread owns: the backend of the card, the weights on it, and how an operator is seen
// through when memory runs out or the card is lost.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "offload/weights.hpp"
#include "shunt/backend.hpp"

namespace shunt::offload {

// A caller that may leave. What reads his memory does it while() he is held here.
class Caller {
public:
    // Runs `work` unless the caller has left; false: he has.
    template <typename Work>
    bool while_here(const Work& work) {
        const std::lock_guard lock(mutex_);
        if (left_) return false;
        work();
        return true;
    }
    // From here on nothing of his is touched. Waits for what is being read, which waits for no card.
    void leave() {
        const std::lock_guard lock(mutex_);
        left_ = true;
    }

private:
    std::mutex mutex_;
    bool left_ = false;
};

// An argument in the caller's memory.
struct Argument {
    std::span<const float> values;
    Shape shape;
    std::optional<WeightKey> weight = {};  // it is one; kept on the card where `keep`
    bool keep = false;
};

// One operator: its results are those of its units (rows, pictures, values), which can be computed in pieces.
struct Work {
    std::size_t units = 0, results_each = 0;
    std::vector<Argument> whole;  // arguments that every piece needs
    Argument cut;                 // cut along its first size
    std::function<Tensor(Backend&, const Tensor& piece, const std::vector<Tensor>& whole)> run;
};

struct Left {};  // thrown where the caller has left

class Card {
public:
    Card(std::string name, BackendOptions options, std::shared_ptr<WeightCache> weights);

    // Sees the operator through: memory that is refused is made free (weights, then smaller pieces), a card that is
    // lost is opened again. Error where that does not help.
    std::vector<float> run(Caller& caller, const Work& work);

    Backend& backend();  // opened again, where the last time failed

private:
    std::vector<float> run_in_pieces(Caller& caller, const Work& work, std::size_t pieces);
    Tensor upload(Caller& caller, const Argument& argument);
    void reopen();

    const std::string name_;
    const BackendOptions options_;
    std::shared_ptr<Backend> backend_;
    std::shared_ptr<WeightCache> weights_;
};

}  // namespace shunt::offload
