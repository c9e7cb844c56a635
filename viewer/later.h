// SPDX-License-Identifier: MIT
// Later: a value that is made in a thread of its own, and words on how far that is. Whoever waits can go on
// without it: a Later that ends before its value is there leaves the thread on its own, and what that needs
// it has or shares. Once take() returns the thread is over. Context: viewer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace varve {

template <typename Value>
class Later {
 public:
  using Tell = std::function<void(std::string words)>;

  /// Begins at once.
  explicit Later(std::function<Value(const Tell&)> make) : shared_(std::make_shared<Shared>()) {
    const auto run = [shared = shared_, make = std::move(make)] {
      const Tell tell = [&shared](std::string words) {
        std::lock_guard lock(shared->mutex);
        shared->words = std::move(words);
      };
      try {
        shared->finish(make(tell), nullptr);
      } catch (...) {
        shared->finish(std::nullopt, std::current_exception());
      }
    };
    try {
      thread_ = std::thread(run);
    } catch (const std::system_error&) {  // no thread to be had: now
      run();
    }
  }
  Later(Later&&) noexcept = default;
  Later& operator=(Later&& other) noexcept {
    std::swap(shared_, other.shared_);
    std::swap(thread_, other.thread_);
    return *this;
  }
  ~Later() {
    if (thread_.joinable()) thread_.detach();
  }

  bool ready_within(std::chrono::milliseconds time) const {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, time, [&] { return shared_->done; });
  }
  bool ready() const { return ready_within({}); }
  std::string words() const {
    std::lock_guard lock(shared_->mutex);
    return shared_->words;
  }
  /// The value, once: waits for it. What making it threw is thrown here.
  Value take() {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [&] { return shared_->done; });
    lock.unlock();
    if (thread_.joinable()) thread_.join();
    if (shared_->failure) std::rethrow_exception(shared_->failure);
    return *std::exchange(shared_->value, std::nullopt);
  }

 private:
  struct Shared {
    void finish(std::optional<Value> made, std::exception_ptr thrown) {
      std::lock_guard lock(mutex);
      value = std::move(made);
      failure = thrown;
      done = true;
      changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Value> value;
    std::exception_ptr failure;
    std::string words;
    bool done = false;
  };
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace varve
