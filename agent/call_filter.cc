// SPDX-License-Identifier: MIT
// A machine for the instructions that the kernel admits in filters: seccomp_check_filter() of
// kernel/seccomp.c names them. See call_filter.h.
// Context: any thread of the target.
#include "agent/call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstring>

#include "agent/program_memory.h"
#include "common/agent_calls.h"

namespace varve::agent {
namespace {

class Machine {
 public:
  Machine(const sock_filter* code, uint32_t length, const seccomp_data& data)
      : code_(code), length_(length), data_(data) {}

  /// The filter's answer; to allow, where it makes no sense, for then the kernel does not take it.
  uint32_t run() {
    for (at_ = 0; at_ < length_; ++at_) {
      const sock_filter& op = code_[at_];
      switch (BPF_CLASS(op.code)) {
        case BPF_LD:
          a_ = loaded(op);
          break;
        case BPF_LDX:
          x_ = loaded(op);
          break;
        case BPF_ST:
          memory_[op.k % BPF_MEMWORDS] = a_;
          break;
        case BPF_STX:
          memory_[op.k % BPF_MEMWORDS] = x_;
          break;
        case BPF_ALU:
          a_ = computed(op, operand(op));
          break;
        case BPF_JMP:
          at_ += BPF_OP(op.code) == BPF_JA ? op.k : holds(op, operand(op)) ? op.jt : op.jf;
          break;
        case BPF_RET:
          return BPF_RVAL(op.code) == BPF_A ? a_ : op.k;
        case BPF_MISC:
          (BPF_MISCOP(op.code) == BPF_TAX ? x_ : a_) = BPF_MISCOP(op.code) == BPF_TAX ? a_ : x_;
      }
    }
    return SECCOMP_RET_ALLOW;
  }

 private:
  uint32_t operand(const sock_filter& op) const { return BPF_SRC(op.code) == BPF_X ? x_ : op.k; }

  uint32_t loaded(const sock_filter& op) const {
    uint32_t word = 0;
    switch (BPF_MODE(op.code)) {
      case BPF_IMM:
        return op.k;
      case BPF_MEM:
        return memory_[op.k % BPF_MEMWORDS];
      case BPF_LEN:
        return sizeof data_;
      case BPF_ABS:
        if (op.k <= sizeof data_ - sizeof word)
          std::memcpy(&word, reinterpret_cast<const uint8_t*>(&data_) + op.k, sizeof word);
    }
    return word;
  }

  uint32_t computed(const sock_filter& op, uint32_t value) const {
    switch (BPF_OP(op.code)) {
      case BPF_ADD:
        return a_ + value;
      case BPF_SUB:
        return a_ - value;
      case BPF_MUL:
        return a_ * value;
      case BPF_DIV:
        return value ? a_ / value : 0;
      case BPF_AND:
        return a_ & value;
      case BPF_OR:
        return a_ | value;
      case BPF_XOR:
        return a_ ^ value;
      case BPF_LSH:
        return value < 32 ? a_ << value : 0;
      case BPF_RSH:
        return value < 32 ? a_ >> value : 0;
      case BPF_NEG:
        return 0 - a_;
    }
    return a_;
  }

  bool holds(const sock_filter& op, uint32_t value) const {
    switch (BPF_OP(op.code)) {
      case BPF_JEQ:
        return a_ == value;
      case BPF_JGT:
        return a_ > value;
      case BPF_JGE:
        return a_ >= value;
      case BPF_JSET:
        return a_ & value;
    }
    return false;
  }

  const sock_filter* code_;
  const uint32_t length_;
  const seccomp_data& data_;
  uint64_t at_ = 0;
  uint32_t a_ = 0, x_ = 0;
  uint32_t memory_[BPF_MEMWORDS] = {};
};

bool harms(uint32_t action) {
  return action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG && action != SECCOMP_RET_ERRNO;
}

uint32_t answer(const sock_filter* code, uint32_t length, const AgentCall& call) {
  seccomp_data data{};
  data.nr = call.number;
  data.arch = AUDIT_ARCH_X86_64;
  for (uint32_t i = 0; i < 3; ++i) data.args[i] = call.arguments[i];
  return Machine(code, length, data).run() & SECCOMP_RET_ACTION_FULL;
}

bool is_readable(const sock_fprog* filter) {
  return can_read(filter, sizeof *filter) && filter->len <= BPF_MAXINSNS &&
         can_read(filter->filter, filter->len * sizeof(sock_filter));
}

}  // namespace

bool would_harm(const sock_fprog* filter) {
  if (!is_readable(filter)) return false;
  for (const AgentCall& call : kAgentCalls)
    if (harms(answer(filter->filter, filter->len, call))) return true;
  const uint32_t action = answer(filter->filter, filter->len, {__NR_rt_sigreturn, {}});
  return action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG;
}

bool would_harm_events(const sock_fprog* filter) {
  return is_readable(filter) && harms(answer(filter->filter, filter->len, {__NR_perf_event_open, {}}));
}

}  // namespace varve::agent
