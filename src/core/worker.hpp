// A thread that owns a T; other threads hand it work, and wait for as long as they choose to.
//
// Jobs run one after another, in the order in which they were handed over. What a job throws reaches its
// caller alone, and the thread goes on. From a job, the same calls run at once.
//
// A job that never ends holds nobody but whom call() promised to wait: callers with a deadline leave,
// from then on their like are declined at once, and ~Worker waits for a bound and then leaves the thread to
// itself. If the job ends after all, so does the thread, and T with it.
//
// In a child after a fork there is no such thread: calls are an Error at once, and T is the parent's.
//
// An empty call takes 5 µs on two busy cores, which is what waking two threads takes (std::atomic's wait is no faster);
// one from a job 35 ns, broken() 30 ns, of which the clock is 25.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/breaker.hpp"
#include "shunt/error.hpp"

namespace shunt {

struct WorkerOptions {
    std::string name = "shunt-worker";                              // of the thread; systems show 15 characters
    std::chrono::nanoseconds start_wait = std::chrono::minutes(2);  // for T to be made
    std::chrono::nanoseconds end_wait = std::chrono::seconds(5);    // for the running job and ~T
    BreakerOptions breaker = {};
};

// What became of a job with a deadline.
enum class Outcome {
    done,
    failed,     // it threw, or the worker has ended
    timed_out,  // it had begun: it runs on, and what it gives is thrown away
    not_begun,  // its turn did not come in time, and never will
    declined,   // the worker is broken
};

template <typename R>
struct Answer {
    Outcome outcome = Outcome::declined;
    std::optional<R> value;    // where it is done; of a job without a result a std::monostate
    std::exception_ptr error;  // where it failed
};

// One piece of work, and how it came out.
class Job {
public:
    virtual ~Job() = default;
    virtual void run(void* thing) = 0;  // may throw

    std::exception_ptr error;  // once it is over

private:
    friend class JobQueue;
    using Time = std::chrono::steady_clock::time_point;
    Time handed_over, begun;
    std::chrono::nanoseconds allowance = std::chrono::nanoseconds::max();
    Breaker::Pass pass = Breaker::Pass::declined;  // none
    bool has_begun = false, over = false;
    std::condition_variable ended;
};

// All of a Worker but its T. The thread shares it and may outlive the Worker.
class JobQueue : public std::enable_shared_from_this<JobQueue> {
public:
    explicit JobQueue(WorkerOptions options);

    // Runs `body` on a thread, until it serves or throws.
    void start(std::function<void()> body);
    void serve(void* thing);  // in the thread: jobs, until stop()
    void stop();

    void run(Job& job);  // throws what the job threw
    Outcome run_within(const std::shared_ptr<Job>& job, std::chrono::nanoseconds wait);

    std::size_t length() const;
    std::chrono::nanoseconds oldest_age() const;
    std::chrono::nanoseconds running_for() const;
    bool broken() const;

private:
    using Time = Job::Time;
    bool forked() const;
    Error refusal() const;
    Outcome queued_within(const std::shared_ptr<Job>& job, std::chrono::nanoseconds wait);
    std::shared_ptr<Job> next();
    void end(Job& job, std::exception_ptr error);
    void report(const Job& job, const std::exception_ptr& error, Time now);
    void leave(std::unique_lock<std::mutex>& lock);

    const WorkerOptions options_;
    const unsigned born_;
    Breaker breaker_;
    std::atomic<std::int64_t> overdue_at_;  // ns: from then on the running job is a stall

    mutable std::mutex mutex_;                // all below, and the jobs
    std::condition_variable work_, changed_;  // for the thread; for who waits for it to start or end
    std::deque<std::shared_ptr<Job>> waiting_;
    const Job* running_ = nullptr;
    Time last_end_;
    void* thing_ = nullptr;
    std::unique_ptr<std::thread> thread_;
    std::exception_ptr start_error_;
    bool serving_ = false, ending_ = false, ended_ = false;
};

// A call of f(T&). What it was called with is gone when it has run.
template <typename T, typename F>
class JobOf final : public Job {
public:
    using Result = std::invoke_result_t<F&, T&>;
    using Value = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;
    static_assert(!std::is_reference_v<Result>, "what the thread owns stays there: return a value");

    template <typename G>
    explicit JobOf(G&& f) : f_(std::in_place, std::forward<G>(f)) {}

    void run(void* thing) override {
        const struct Spent {
            std::optional<F>& f;
            ~Spent() { f.reset(); }
        } spent{f_};
        if constexpr (std::is_void_v<Result>) {
            std::invoke(*f_, *static_cast<T*>(thing));
            value.emplace();
        } else {
            value.emplace(std::invoke(*f_, *static_cast<T*>(thing)));
        }
    }

    std::optional<Value> value;

private:
    std::optional<F> f_;
};

template <typename T>
class Worker {
public:
    // Returns when `make` has made T on the new thread, and throws what it threw; timed_out past start_wait
    // (`make` owns what it uses: it may still be running then).
    explicit Worker(std::function<T()> make, WorkerOptions options = {})
        : queue_(std::make_shared<JobQueue>(std::move(options))) {
        queue_->start([queue = queue_.get(), make = std::move(make)]() mutable {
            T thing = std::exchange(make, nullptr)();
            queue->serve(&thing);
        });
    }
    // Stops it.
    ~Worker() { queue_->stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // What f(T&) returns or throws. Waits without limit, so f may use what is the caller's.
    template <typename F>
    auto call(F&& f) {
        const auto borrowed = [&f](T& thing) -> decltype(auto) { return std::invoke(f, thing); };
        JobOf<T, decltype(borrowed)> job(borrowed);
        const std::shared_ptr<JobQueue> queue = queue_;  // the Worker may go while this waits
        queue->run(job);
        if constexpr (!std::is_void_v<std::invoke_result_t<F&, T&>>) return *std::move(job.value);
    }

    // The same with a deadline, from now to its end. `f` owns what it uses: the caller may leave earlier.
    // A job that runs for longer than `wait` is a stall to the breaker. Does not throw what f throws.
    template <typename F>
    auto call_timeout(F&& f, std::chrono::nanoseconds wait) {
        auto job = std::make_shared<JobOf<T, std::decay_t<F>>>(std::forward<F>(f));
        Answer<typename JobOf<T, std::decay_t<F>>::Value> answer;
        const std::shared_ptr<JobQueue> queue = queue_;
        answer.outcome = queue->run_within(job, wait);
        if (answer.outcome == Outcome::done) answer.value = std::move(job->value);
        if (answer.outcome == Outcome::failed) answer.error = std::move(job->error);
        return answer;
    }

    // Jobs that have not begun fail, the thread gets end_wait to end, and is left to itself past that. A
    // later call is an Error. Any thread, also several at once.
    void stop() { queue_->stop(); }

    std::size_t queue_length() const { return queue_->length(); }                   // of jobs that have not begun
    std::chrono::nanoseconds oldest_age() const { return queue_->oldest_age(); }    // of those; 0: none
    std::chrono::nanoseconds running_for() const { return queue_->running_for(); }  // 0: idle
    // Whether call_timeout would be declined. To be asked before a job is made ready.
    bool broken() const { return queue_->broken(); }

private:
    const std::shared_ptr<JobQueue> queue_;
};

}  // namespace shunt
