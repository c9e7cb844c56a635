// SPDX-License-Identifier: MIT
// Fields as proc(5) has them. See proc_text.h.
// Context: viewer.
#include "viewer/record/observe/proc_text.h"

#include <charconv>

namespace varve::record::observe {
namespace {

/// Takes fields, which spaces or line ends separate, from the front of a text.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  /// Empty at the end.
  std::string_view next() {
    size_t begin = rest_.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return rest_ = {};
    rest_.remove_prefix(begin);
    size_t end = std::min(rest_.find_first_of(" \t\n"), rest_.size());
    std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return field;
  }

  /// False where the next field is no such number. "0x" before it means base 16.
  template <typename Number>
  bool number(Number& value) {
    std::string_view field = next();
    int base = field.starts_with("0x") ? 16 : 10;
    if (base == 16) field.remove_prefix(2);
    auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, base);
    return error == std::errc() && end == field.data() + field.size();
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<SchedSums> parse_schedstat(std::string_view text) {
  Fields fields(text);
  SchedSums sums;
  if (!fields.number(sums.ran.count) || !fields.number(sums.ready.count) || !fields.number(sums.switched_in))
    return {};
  return sums;
}

std::optional<TaskStat> parse_stat(std::string_view text) {
  size_t name_begin = text.find('('), name_end = text.rfind(')');
  if (name_begin == std::string_view::npos || name_end == std::string_view::npos || name_end < name_begin)
    return {};
  TaskStat stat;
  stat.name = text.substr(name_begin + 1, name_end - name_begin - 1);
  Fields fields(text.substr(name_end + 1));
  std::string_view state = fields.next();
  if (state.size() != 1 || !fields.number(stat.parent)) return {};
  stat.state = state[0];
  constexpr int kParentField = 4, kExitSignalField = 38;  // then the processor
  for (int field = kParentField + 1; field < kExitSignalField; ++field) fields.next();
  int exit_signal = 0;
  if (!fields.number(exit_signal) || !fields.number(stat.processor)) return {};
  stat.is_thread = exit_signal == -1;
  return stat;
}

/// "NUMBER ARG ARG ARG ARG ARG ARG SP PC", "-1 SP PC", or "running".
std::optional<SyscallLook> parse_syscall(std::string_view text) {
  Fields fields(text);
  SyscallLook look;
  if (!fields.number(look.number)) return {};
  if (look.number >= 0)
    for (uint64_t& argument : look.arguments)
      if (!fields.number(argument)) return {};
  if (!fields.number(look.stack_pointer) || !fields.number(look.program_counter)) return {};
  return look;
}

std::optional<SwitchCounts> parse_switch_counts(std::string_view status) {
  auto value_of = [status](std::string_view name) -> std::optional<uint64_t> {
    size_t at = status.find(name);
    uint64_t value = 0;
    if (at == std::string_view::npos || !Fields(status.substr(at + name.size())).number(value)) return {};
    return value;
  };
  auto voluntary = value_of("\nvoluntary_ctxt_switches:"),
       involuntary = value_of("\nnonvoluntary_ctxt_switches:");
  if (!voluntary || !involuntary) return {};
  return SwitchCounts{*voluntary, *involuntary};
}

std::optional<pid_t> parse_last_pid(std::string_view loadavg) {
  Fields fields(loadavg);
  constexpr int kBefore = 4;  // three averages, and "running/all"
  for (int field = 0; field < kBefore; ++field) fields.next();
  pid_t last = 0;
  if (!fields.number(last)) return {};
  return last;
}

}  // namespace varve::record::observe
