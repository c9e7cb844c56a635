// SPDX-License-Identifier: MIT
// See column_fit.h.
// Context: viewer.
#include "viewer/render/column_fit.h"

#include <algorithm>
#include <cstdint>

namespace varve::render {
namespace {

constexpr int kMostSpare = 10;

class Fit {
 public:
  Fit(const std::vector<ColumnNeed>& needs, size_t room)
      : needs_(needs), room_(room), stands_(needs.size(), true) {}

  std::vector<size_t> widths() {
    spare();
    std::vector<size_t> widths(needs_.size());
    const size_t line = least_line(), last = needs_.size() - 1;
    size_t left = room_ > line ? room_ - line : 0;
    const size_t missing = line > room_ ? line - room_ : 0;
    // What the least of all leaves over goes to the last name, then to the others.
    for (size_t n = needs_.size(), j = last; n-- > 0; j = j == last ? 0 : j + 1) {
      if (!stands_[j]) continue;
      const ColumnNeed& need = needs_[j];
      widths[j] = need.width;
      if (!need.elastic) continue;
      const size_t more = std::min(left, need.width - std::min(need.width, need.least));
      left -= more;
      widths[j] = need.least + more;
      if (j == last) widths[j] = widths[j] > missing ? widths[j] - missing : 1;
    }
    return widths;
  }

 private:
  size_t least_line() const {
    size_t sum = 0;
    for (size_t j = 0; j < needs_.size(); ++j)
      if (stands_[j]) sum += kColumnGap + (needs_[j].elastic ? needs_[j].least : needs_[j].width);
    return sum - std::min(sum, kColumnGap);
  }

  /// Columns of one order go together. Where a wide one had to go, narrow ones that went before it may have
  /// room again.
  void spare() {
    int order = 1;
    for (; order < kMostSpare && least_line() > room_; ++order) put(order, false);
    while (--order > 0) {
      put(order, true);
      if (least_line() > room_) put(order, false);
    }
  }

  void put(int order, bool stands) {
    for (size_t j = 0; j + 1 < needs_.size(); ++j)
      if (needs_[j].spare == order) stands_[j] = stands;
  }

  const std::vector<ColumnNeed>& needs_;
  size_t room_;
  std::vector<bool> stands_;
};

}  // namespace

std::vector<size_t> fit_columns(const std::vector<ColumnNeed>& needs, size_t room) {
  return needs.empty() ? std::vector<size_t>() : Fit(needs, room).widths();
}

size_t least_name(size_t width, size_t room, bool last, bool tree) {
  constexpr size_t kLeastLast = 24, kLeastTree = 44, kLeastOther = 10, kMostOther = 40;
  return std::min(width,
                  last ? (tree ? kLeastTree : kLeastLast) : std::clamp(room / 6, kLeastOther, kMostOther));
}

}  // namespace varve::render
