// SPDX-License-Identifier: MIT
// See chunk_pipeline.h.
// Context: viewer.
#include "viewer/load/chunk_pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "viewer/load/start_thread.h"

namespace varve::load {
namespace {

constexpr size_t kAheadPerThread = 8;  // chunks: 64 KB on disk, some 300 KB decoded

class Pipeline {
 public:
  Pipeline(std::span<const ChunkTask> tasks, size_t ahead)
      : tasks_(tasks), slots_(std::min(ahead, tasks.size())) {}

  /// A decoder's thread: takes the next task as soon as it has a slot, until there are no more.
  void work(SampleDecoder decoder) {
    while (auto task = take()) {
      try {
        put(*task, decoder.decode(*tasks_[*task].source, *tasks_[*task].chunk));
      } catch (...) {
        return fail(std::current_exception());
      }
    }
  }

  /// The decoded chunk of a task; waits for it. What a decoder threw (out of memory) is thrown here.
  DecodedChunk get(size_t task) {
    std::unique_lock lock(mutex_);
    auto& slot = slots_[task % slots_.size()];
    decoded_.wait(lock, [&] { return slot || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    DecodedChunk chunk = std::move(*slot);
    slot.reset();
    ++used_;
    lock.unlock();
    room_.notify_one();
    return chunk;
  }

  void stop() {
    std::lock_guard lock(mutex_);
    next_ = tasks_.size();
    room_.notify_all();
  }

 private:
  std::optional<size_t> take() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return next_ >= tasks_.size() || next_ - used_ < slots_.size(); });
    if (next_ >= tasks_.size()) return std::nullopt;
    return next_++;
  }

  void put(size_t task, DecodedChunk&& chunk) {
    {
      std::lock_guard lock(mutex_);
      slots_[task % slots_.size()] = std::move(chunk);
    }
    decoded_.notify_one();
  }

  void fail(std::exception_ptr failure) {
    {
      std::lock_guard lock(mutex_);
      failure_ = failure;
    }
    decoded_.notify_one();
  }

  const std::span<const ChunkTask> tasks_;
  std::mutex mutex_;
  std::condition_variable room_, decoded_;
  std::vector<std::optional<DecodedChunk>> slots_;  // task t in slot t % size
  size_t next_ = 0;                                 // task to be taken
  size_t used_ = 0;                                 // tasks handed on
  std::exception_ptr failure_;
};

void decode_in_this_thread(std::span<const ChunkTask> tasks, SampleDecoder decoder,
                           const std::function<void(DecodedChunk&&)>& use) {
  for (const ChunkTask& task : tasks) use(decoder.decode(*task.source, *task.chunk));
}

/// Ends and joins the decoders, also when `use` throws.
class Workers {
 public:
  explicit Workers(Pipeline& pipeline) : pipeline_(pipeline) {}
  ~Workers() {
    pipeline_.stop();
    for (auto& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// False: there is no thread for it.
  bool add(SampleDecoder&& decoder) {
    return start_thread(threads_,
                        [this, moved = std::move(decoder)]() mutable { pipeline_.work(std::move(moved)); });
  }

 private:
  Pipeline& pipeline_;
  std::vector<std::thread> threads_;
};

}  // namespace

void decode_in_order(std::span<const ChunkTask> tasks, std::span<const Mapping> mappings,
                     const FileSource& files, unsigned threads,
                     const std::function<void(DecodedChunk&&)>& use) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  // The caller's thread builds the tree, which takes longer than decoding; more than a few decoders would
  // only wait.
  constexpr unsigned kMostDecoders = 4;
  auto decoders = unsigned(std::min({size_t(threads - 1), size_t(kMostDecoders), tasks.size() / 2}));
  if (decoders == 0) return decode_in_this_thread(tasks, SampleDecoder(0, mappings, files), use);
  Pipeline pipeline(tasks, decoders * kAheadPerThread);
  Workers workers(pipeline);
  unsigned working = 0;
  for (unsigned i = 0; i < decoders; ++i) working += workers.add(SampleDecoder(i, mappings, files));
  if (working == 0) return decode_in_this_thread(tasks, SampleDecoder(0, mappings, files), use);
  for (size_t task = 0; task < tasks.size(); ++task) use(pipeline.get(task));
}

}  // namespace varve::load
