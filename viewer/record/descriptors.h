// SPDX-License-Identifier: MIT
// What the recorder does about descriptors that it was started with: they are the command's. Context: viewer.
#pragma once

#include <vector>

namespace varve::record {

/// The numbers of this process's open descriptors, ascending.
std::vector<int> open_descriptors();

/// Keeps the numbers 0, 1 and 2 taken: where varve was started with one of them closed, a file of its own
/// would get the number, and messages would be written into it. What it opens is closed on exec, so the
/// target sees them closed.
void guard_standard_descriptors();

/// The descriptors that varve was started with belong to the command: a reader finds no end, and a lock stays
/// taken, for as long as anybody else has them.
class InheritedDescriptors {
 public:
  /// To be made before anything is opened, once the standard ones are guarded.
  InheritedDescriptors();

  /// Once the command has them: closes them here, and puts /dev/null where stdin and stdout were. stderr
  /// stays, for what the recorder has to say, and so do all of a file that this process has a record lock of
  /// (fcntl, lockf): a process loses that with the first of its descriptors that it closes.
  void give_up();

 private:
  std::vector<int> numbers_;  // above stderr
};

}  // namespace varve::record
