// SPDX-License-Identifier: MIT
// How a HotSpot in this process lays out its code, from the tables that it exports for its own serviceability
// agent (gHotSpotVMStructs): names of fields, their types and offsets. What is missing there, or does not
// hold together, leaves the feature off. Not the reading of frames: that is signal/java_frames.h. Context:
// any thread of the target; not signal.
#pragma once

#include <cstdint>

namespace varve::agent {

/// For the address that a thread is created from: if HotSpot creates it, learns its layout and gives it to
/// the handler. Until its code heaps exist, each later call tries again.
void learn_java_layout(uint64_t caller);

}  // namespace varve::agent
