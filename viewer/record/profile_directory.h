// SPDX-License-Identifier: MIT
// ProfileDirectory: where a run is recorded. Chooses the name, moves an older profile of that name aside, and
// creates the directory whole: it is filled under a hidden name first, so nobody ever sees one without a
// session file. Not the session file itself: that is session_writer.h. Context: viewer.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace varve::record {

/// Owns a directory descriptor; closes it.
class ProfileDirectory {
 public:
  ProfileDirectory(ProfileDirectory&& other) noexcept;
  ProfileDirectory& operator=(ProfileDirectory&&) = delete;
  ~ProfileDirectory();

  /// Makes the hidden directory (mode 0700) beside the final place. `path` is as the user gave it. The error
  /// is a sentence about the folder it would stand in.
  static tl::expected<ProfileDirectory, std::string> prepare(std::string path);

  /// Gives the directory its name. With `move_aside`, an older profile of that name is renamed to the next
  /// free number, NAME.1, NAME.2, ...; one that is still being recorded keeps its name and this one takes the
  /// number. Without it, whatever exists there is an error.
  tl::expected<void, std::string> publish(bool move_aside);

  /// Removes what prepare() and the session writer made; for a command that could not be started.
  void discard();

  int descriptor() const { return descriptor_; }
  /// As the user should see it: as given, but where that leads elsewhere by now, because it was renamed or
  /// named a descriptor that is closed, where it is.
  std::string path() const;
  std::string absolute_path() const;

 private:
  ProfileDirectory(std::string path, std::string hidden, int descriptor);

  std::string path_;
  std::string current_;  // where the directory is now: the hidden name, then path_
  int descriptor_ = -1;
};

/// "xz.varve" for /usr/bin/xz: the name of the program and the suffix, in the current directory.
std::string default_profile_name(std::string_view command);

/// Whether a recorder on this machine is writing this profile now.
bool is_recording(const std::string& path);

struct OutputError {
  std::string sentence;
  bool wrong_name = false;  // another -o would do; otherwise nothing can be written there
};

/// Whether `path` can be used for -o: nothing exists there, and the folder it would stand in is a directory
/// in which files can be made.
tl::expected<void, OutputError> check_output(const std::string& path, bool may_exist);

}  // namespace varve::record
