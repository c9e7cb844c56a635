// SPDX-License-Identifier: MIT
// varve-demo: three seconds of work worth profiling. It makes a text, counts its words in one thread, then
// compresses blocks of it in several threads that share one lock, and checks the sums. Every phase is a
// function one finds again in the report; hash_step is inlined, so it appears as "(inlined)". Not a test: it
// shows varve, and `make demo` runs it.
#include <pthread.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace demo {

constexpr size_t kBlockBytes = 64 * 1024;
constexpr size_t kWindow = 192;  // bytes

/// xorshift64*: the same text each time.
struct Random {
  uint64_t state = 88172645463325252u;
  uint64_t next() {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 2685821657736338717u;
  }
};

[[gnu::noinline]] std::string make_text(size_t bytes) {
  Random random;
  std::string text;
  text.reserve(bytes + 16);
  while (text.size() < bytes) {
    uint64_t bits = random.next();
    for (unsigned i = 0; i < 2 + bits % 8; ++i)
      text.push_back(char('a' + (bits >> (8 + 5 * i)) % 26 % (3 + i * 3)));
    text.push_back(' ');
  }
  return text;
}

[[gnu::noinline]] std::vector<std::string_view> parse_input(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Counts words: open addressing, sized for the input.
class Index {
 public:
  explicit Index(size_t words) : slots_(std::bit_ceil(words * 2)) {}

  [[gnu::noinline]] void add(std::string_view word) {
    size_t at = hash_word(word);
    while (slots_[at].count && slots_[at].word != word) at = (at + 1) & (slots_.size() - 1);
    different_ += slots_[at].count == 0;
    slots_[at] = {word, slots_[at].count + 1};
  }
  size_t different() const { return different_; }

 private:
  struct Slot {
    std::string_view word;
    unsigned count = 0;
  };
  [[gnu::noinline]] size_t hash_word(std::string_view word) const {
    uint64_t hash = 14695981039346656037u;
    for (unsigned char byte : word) hash = (hash ^ byte) * 1099511628211u;
    return (hash ^ hash >> 29) & (slots_.size() - 1);
  }

  std::vector<Slot> slots_;
  size_t different_ = 0;
};

[[gnu::noinline]] size_t build_index(const std::vector<std::string_view>& words) {
  Index index(words.size());
  for (std::string_view word : words) index.add(word);
  return index.different();
}

[[gnu::always_inline]] inline uint32_t hash_step(uint32_t hash, unsigned char byte) {
  hash ^= byte;
  for (int i = 0; i < 4; ++i) hash = (hash >> 1) ^ (0xedb88320u & (0u - (hash & 1)));
  return hash;
}

[[gnu::noinline]] uint32_t checksum(std::string_view bytes) {
  uint32_t hash = ~0u;
  for (unsigned char byte : bytes) hash = hash_step(hash, byte);
  return ~hash;
}

/// Length of the longest earlier match, by brute force in a small window.
[[gnu::noinline]] size_t longest_match(std::string_view block, size_t at) {
  size_t best = 0;
  for (size_t from = at > kWindow ? at - kWindow : 0; from < at; ++from) {
    size_t length = 0;
    while (at + length < block.size() && length < 64 && block[from + length] == block[at + length]) ++length;
    best = std::max(best, length);
  }
  return best;
}

[[gnu::noinline]] size_t compress_block(std::string_view block) {
  size_t out = 0;
  for (size_t at = 0; at < block.size();) {
    size_t match = longest_match(block, at);
    at += match >= 4 ? match : 1;
    out += match >= 4 ? 2 : 1;
  }
  return out;
}

struct Shared {
  std::mutex lock;
  size_t next = 0, compressed = 0;
  uint32_t sum = 0;
};

[[gnu::noinline]] void add_result(Shared& shared, size_t bytes, std::string_view block) {
  std::lock_guard guard(shared.lock);
  shared.compressed += bytes;
  shared.sum ^= checksum(block);  // under the lock: the others wait for it
}

void worker(Shared& shared, std::string_view text, size_t blocks) {
  pthread_setname_np(pthread_self(), "compressor");
  for (;;) {
    size_t mine;
    {
      std::lock_guard guard(shared.lock);
      mine = shared.next++;
    }
    if (mine >= blocks) return;
    std::string_view block = text.substr(mine * kBlockBytes % text.size(), kBlockBytes);
    add_result(shared, compress_block(block), block);
  }
}

}  // namespace demo

int main(int argc, char** argv) {
  using namespace demo;
  unsigned threads = argc > 1 ? unsigned(std::clamp(std::atoi(argv[1]), 1, 64)) : 2;
  size_t rounds = argc > 2 ? size_t(std::clamp(std::atoi(argv[2]), 1, 1000)) : 8;
  auto start = std::chrono::steady_clock::now();
  std::string text = make_text(rounds * 1024 * 1024);
  std::vector<std::string_view> words;
  size_t different = 0;
  for (int pass = 0; pass < 6; ++pass) {
    words = parse_input(text);
    different = build_index(words);
  }
  std::printf("%zu words, %zu of them different\n", words.size(), different);

  Shared shared;
  std::vector<std::thread> pool;
  size_t blocks = text.size() / kBlockBytes;
  for (unsigned i = 0; i < threads; ++i)
    pool.emplace_back(worker, std::ref(shared), std::string_view(text), blocks);
  for (std::thread& thread : pool) thread.join();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%zu bytes compressed to %zu by %u threads, checksum %08x, %.1f s\n", blocks * kBlockBytes,
              shared.compressed, threads, shared.sum, took.count());
}
