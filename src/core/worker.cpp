// See worker.hpp.
#include "core/worker.hpp"

#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "core/forks.hpp"

namespace shunt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t never = INT64_MAX;
constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours(24 * 365);  // what can be added to a time

// Not the thread's id: the system gives that to another one later.
thread_local const JobQueue* served_here = nullptr;

std::int64_t ns(Clock::time_point time) {
    return time.time_since_epoch().count();
}

std::chrono::nanoseconds bounded(std::chrono::nanoseconds wait) {
    return std::clamp(wait, std::chrono::nanoseconds(0), longest_wait);
}

// Whether it says nothing of the worker: the job itself could not be.
bool of_the_caller(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return e.fault() == Fault::bad_argument || e.fault() == Fault::bad_data || e.fault() == Fault::bad_file ||
               e.fault() == Fault::unsupported;
    } catch (...) {
        return false;
    }
}

}  // namespace

JobQueue::JobQueue(WorkerOptions options)
    : options_(std::move(options)), born_(forks()), breaker_(options_.breaker), overdue_at_(never) {}

// Asked before any lock: the parent's other threads may have held them when it forked.
bool JobQueue::forked() const {
    return born_ != forks();
}

Error JobQueue::refusal() const {
    const std::string worker = "The worker '" + options_.name + "'";
    if (!forked()) return {Fault::timed_out, worker + " has ended; this job was not begun."};
    return {Fault::device_lost,
            worker + " was started before a fork, and is the parent's alone: this process has to start its own."};
}

void JobQueue::start(std::function<void()> body) {
    std::unique_lock lock(mutex_);
    try {
        thread_ = std::make_unique<std::thread>([self = shared_from_this(), body = std::move(body)] {
            pthread_setname_np(pthread_self(), self->options_.name.substr(0, 15).c_str());
            std::exception_ptr error;
            try {
                body();
            } catch (...) {
                error = std::current_exception();
            }
            const std::lock_guard end(self->mutex_);
            self->start_error_ = std::move(error);
            self->ended_ = true;
            self->changed_.notify_all();
        });
    } catch (const std::system_error& error) {
        throw Error(Fault::out_of_memory, "The thread '" + options_.name + "' cannot be started: " + error.what());
    }
    changed_.wait_for(lock, bounded(options_.start_wait), [&] { return serving_ || ended_; });
    if (serving_) return;
    ending_ = true;  // should T be made after all
    const std::exception_ptr error = std::move(start_error_);
    leave(lock);
    if (error) std::rethrow_exception(error);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(options_.start_wait);
    throw Error(Fault::timed_out,
                "The worker '" + options_.name + "' was not ready within " + std::to_string(waited.count()) + " ms.");
}

void JobQueue::serve(void* thing) {
    {
        const std::lock_guard lock(mutex_);
        thing_ = thing;
        serving_ = true;
        changed_.notify_all();
    }
    served_here = this;
    while (const std::shared_ptr<Job> job = next()) {
        std::exception_ptr error;
        try {
            job->run(thing);
        } catch (...) {
            error = std::current_exception();
        }
        end(*job, std::move(error));  // one on its caller's stack is gone now
    }
    served_here = nullptr;
}

std::shared_ptr<Job> JobQueue::next() {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return nullptr;
    std::shared_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    job->has_begun = true;
    job->begun = std::max(job->handed_over, last_end_);  // waking up counts: whose time is up is a stall then
    running_ = job.get();
    if (job->allowance < longest_wait) overdue_at_ = ns(job->begun + job->allowance);
    return job;
}

void JobQueue::end(Job& job, std::exception_ptr error) {
    const Time now = Clock::now();
    report(job, error, now);
    const std::lock_guard lock(mutex_);
    last_end_ = now;
    running_ = nullptr;
    overdue_at_ = never;
    job.error = std::move(error);
    job.over = true;
    job.ended.notify_one();  // under the lock: its caller takes it from the stack then
}

// Of a stall the breaker hears when it is over; until then overdue_at_ declines.
void JobQueue::report(const Job& job, const std::exception_ptr& error, Time now) {
    if (job.pass == Breaker::Pass::declined) return;
    if (now - job.begun >= job.allowance) return breaker_.stalled(job.pass, now);
    if (!error) return breaker_.succeeded(job.pass);
    if (of_the_caller(error)) return breaker_.unused(job.pass);
    breaker_.failed(job.pass, now);
}

void JobQueue::run(Job& job) {
    if (forked()) throw refusal();
    if (served_here == this) return job.run(thing_);
    std::unique_lock lock(mutex_);
    if (ending_) throw refusal();
    job.handed_over = Clock::now();
    waiting_.emplace_back(std::shared_ptr<void>(), &job);  // owns nothing, allocates nothing
    work_.notify_one();
    job.ended.wait(lock, [&] { return job.over; });
    if (job.error) std::rethrow_exception(job.error);
}

Outcome JobQueue::run_within(const std::shared_ptr<Job>& job, std::chrono::nanoseconds wait) {
    if (!forked() && served_here != this) return queued_within(job, bounded(wait));
    try {
        if (forked()) throw refusal();
        job->run(thing_);
        return Outcome::done;
    } catch (...) {
        job->error = std::current_exception();
        return Outcome::failed;
    }
}

Outcome JobQueue::queued_within(const std::shared_ptr<Job>& job, std::chrono::nanoseconds wait) {
    const Time now = Clock::now();
    if (broken()) return Outcome::declined;
    std::unique_lock lock(mutex_);
    if (ending_) {
        job->error = std::make_exception_ptr(refusal());
        return Outcome::failed;
    }
    job->handed_over = now;
    job->allowance = wait;
    waiting_.push_back(job);
    job->pass = breaker_.ask(now);  // after all that can throw: who has a pass reports
    if (job->pass == Breaker::Pass::declined) {
        waiting_.pop_back();
        return Outcome::declined;
    }
    work_.notify_one();
    if (job->ended.wait_until(lock, now + wait, [&] { return job->over; }))
        return job->error ? Outcome::failed : Outcome::done;
    if (job->has_begun) return Outcome::timed_out;
    std::erase(waiting_, job);
    breaker_.unused(job->pass);
    return Outcome::not_begun;
}

void JobQueue::stop() {
    std::deque<std::shared_ptr<Job>> given_up;  // goes without the lock: what jobs own may call anything
    if (forked()) {
        static_cast<void>(thread_.release());
        return;
    }
    std::unique_lock lock(mutex_);
    if (!thread_) return;
    ending_ = true;
    given_up.swap(waiting_);
    for (const std::shared_ptr<Job>& job : given_up) {
        job->error = std::make_exception_ptr(refusal());
        job->over = true;
        job->ended.notify_one();
    }
    work_.notify_one();
    if (served_here != this) changed_.wait_for(lock, bounded(options_.end_wait), [&] { return ended_; });
    leave(lock);
}

void JobQueue::leave(std::unique_lock<std::mutex>& lock) {
    const std::unique_ptr<std::thread> thread = std::move(thread_);
    if (!thread) return;  // another one ended it at the same time
    const bool joins = ended_;
    lock.unlock();
    if (joins) {
        thread->join();
    } else {
        thread->detach();
    }
}

std::size_t JobQueue::length() const {
    if (forked()) return 0;
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

std::chrono::nanoseconds JobQueue::oldest_age() const {
    if (forked()) return {};
    const std::lock_guard lock(mutex_);
    return waiting_.empty() ? std::chrono::nanoseconds(0) : Clock::now() - waiting_.front()->handed_over;
}

std::chrono::nanoseconds JobQueue::running_for() const {
    if (forked()) return {};
    const std::lock_guard lock(mutex_);
    return running_ ? Clock::now() - running_->begun : std::chrono::nanoseconds(0);
}

bool JobQueue::broken() const {
    if (forked()) return true;
    const Time now = Clock::now();
    return ns(now) >= overdue_at_ || breaker_.declines(now);
}

}  // namespace shunt
