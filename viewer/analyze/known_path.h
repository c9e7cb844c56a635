// SPDX-License-Identifier: MIT
// KnownPath: the critical path of a profile, made when it is first asked for. It is the whole run's, whatever
// is filtered, so who asks again gets the same. Context: viewer, one thread.
#pragma once

#include <memory>

#include "viewer/analyze/critical_path.h"

namespace varve::analyze {

class KnownPath {
 public:
  std::shared_ptr<const CriticalPath> of(const load::Profile& profile) {
    if (of_ != &profile) path_ = std::make_shared<const CriticalPath>(critical_path(profile));
    of_ = &profile;
    return path_;
  }

 private:
  const load::Profile* of_ = nullptr;
  std::shared_ptr<const CriticalPath> path_;
};

}  // namespace varve::analyze
