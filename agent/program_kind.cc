// SPDX-License-Identifier: MIT
// See program_kind.h.
// Context: exec and posix_spawn hooks, in vfork children too.
#include "agent/program_kind.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "agent/session.h"
#include "agent/signal/file_identity.h"
#include "agent/signal/raw_syscall.h"
#include "agent/text.h"

namespace varve::agent {
namespace {

constexpr int kMostScripts = 5;  // as many as the kernel follows
constexpr size_t kPathBytes = 512;

/// Opening anything else can be noticed: a pipe with a name lets its writers go on.
bool is_regular(int directory, const char* path) {
  struct stat status {};
  return !failed(raw_syscall(__NR_newfstatat, directory, as_arg(path), as_arg(&status), 0)) &&
         S_ISREG(status.st_mode);
}

/// A regular file open for reading, for a scope; none where it cannot be read.
class File {
 public:
  File(int directory, const char* path) {
    if (is_regular(directory, path))
      fd_ = raw_syscall(__NR_openat, directory, as_arg(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (!failed(fd_)) opened_ = FileIdentity(fd_);
  }
  ~File() {
    if (!failed(fd_)) close_if(fd_, opened_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// How many bytes there were; 0 where there were none.
  size_t read(void* to, size_t size, uint64_t offset) const {
    const long got = failed(fd_) ? -1 : raw_syscall(__NR_pread64, fd_, as_arg(to), long(size), long(offset));
    return failed(got) ? 0 : size_t(got);
  }

 private:
  long fd_ = -1;
  FileIdentity opened_;
};

enum class Kind { kTaken, kRefused, kStatic, kScript, kNothing };

const char* name_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool begins_with(const char* text, const char* begin) {
  return !std::strncmp(text, begin, std::strlen(begin));
}

constexpr size_t kRuntimeNameBytes = 24;

bool is_of_musl(const char* loader) { return begins_with(name_of(loader), "ld-musl"); }

/// The program headers of a file, read one by one: who executes a program may have little stack.
class Segments {
 public:
  Segments(const File& file, const Elf64_Ehdr& header) : file_(file), header_(header) {}

  /// The first that it is true of; false: none is.
  template <typename Is>
  bool find(Elf64_Phdr& segment, Is is) const {
    constexpr uint16_t kMost = 64;
    for (uint16_t i = 0; i < header_.e_phnum && i < kMost; ++i) {
      const uint64_t at = header_.e_phoff + uint64_t(i) * sizeof segment;
      if (file_.read(&segment, sizeof segment, at) != sizeof segment) return false;
      if (is(segment)) return true;
    }
    return false;
  }
  bool find_type(Elf64_Phdr& segment, uint32_t type) const {
    return find(segment, [type](const Elf64_Phdr& each) { return each.p_type == type; });
  }
  /// Where that address is in the file; 0: nowhere.
  uint64_t place_of(uint64_t address) const {
    Elf64_Phdr segment;
    const bool found = find(segment, [address](const Elf64_Phdr& each) {
      return each.p_type == PT_LOAD && address - each.p_vaddr < each.p_filesz;
    });
    return found ? address - segment.p_vaddr + segment.p_offset : 0;
  }

 private:
  const File& file_;
  const Elf64_Ehdr& header_;
};

/// Whether it needs a shared runtime of AddressSanitizer, which ends the program if it is not the first of
/// all libraries; the agent would be.
bool needs_asan(const File& file, const Segments& segments) {
  constexpr size_t kMost = 256;
  Elf64_Phdr dynamic;
  Elf64_Dyn entry;
  if (!segments.find_type(dynamic, PT_DYNAMIC)) return false;
  const size_t count = std::min(kMost, size_t(dynamic.p_filesz / sizeof entry));
  const auto read = [&](size_t i) {
    return file.read(&entry, sizeof entry, dynamic.p_offset + i * sizeof entry) == sizeof entry;
  };
  uint64_t names = 0;
  for (size_t i = 0; i < count && !names && read(i) && entry.d_tag != DT_NULL; ++i)
    if (entry.d_tag == DT_STRTAB) names = segments.place_of(entry.d_un.d_ptr);
  for (size_t i = 0; i < count && names && read(i) && entry.d_tag != DT_NULL; ++i) {
    char name[kRuntimeNameBytes] = {};
    if (entry.d_tag == DT_NEEDED && file.read(name, sizeof name - 1, names + entry.d_un.d_val) &&
        is_asan_runtime(name))
      return true;
  }
  return false;
}

/// Of a 64-bit program: by the loader that it names, and the libraries.
Kind kind_of_program(const File& file, const Elf64_Ehdr& header) {
  const Segments segments(file, header);
  Elf64_Phdr interpreter;
  if (!segments.find_type(interpreter, PT_INTERP)) return Kind::kStatic;
  char loader[kPathBytes] = {};
  file.read(loader, sizeof loader - 1, interpreter.p_offset);
  return is_of_musl(loader) || needs_asan(file, segments) ? Kind::kRefused : Kind::kTaken;
}

/// The word after "#!", into `interpreter`.
void take_interpreter(const char* line, char* interpreter) {
  line += std::strspn(line, " \t");
  const size_t length = std::strcspn(line, " \t\n");
  std::memcpy(interpreter, line, length);
  interpreter[length] = 0;
}

Kind kind_of(const File& file, char* interpreter) {
  union {
    Elf64_Ehdr header;
    char line[kPathBytes];
  } start = {};
  const size_t size = file.read(&start, sizeof start - 1, 0);
  if (size < 4) return Kind::kNothing;
  if (!std::memcmp(start.line, "#!", 2)) return take_interpreter(start.line + 2, interpreter), Kind::kScript;
  if (size < sizeof start.header || std::memcmp(start.line, ELFMAG, SELFMAG) != 0) return Kind::kTaken;
  if (start.header.e_ident[EI_CLASS] != ELFCLASS64 || start.header.e_machine != EM_X86_64)
    return Kind::kRefused;
  return kind_of_program(file, start.header);
}

/// Follows scripts to their interpreters. kNothing: there is nothing to be read.
Kind last_kind(int directory, const char* path) {
  char interpreter[kPathBytes], script[kPathBytes];
  Kind kind = kind_of(File(directory, path), interpreter);
  for (int i = 0; kind == Kind::kScript && i < kMostScripts; ++i) {
    std::memcpy(script, interpreter, sizeof script);
    kind = kind_of(File(AT_FDCWD, script), interpreter);
    path = script;
  }
  if (kind != Kind::kStatic) return kind;
  return is_emulator(path) ? Kind::kRefused : Kind::kTaken;  // what it starts may be of any kind
}

}  // namespace

bool is_emulator(const char* path) {
  constexpr char kPrefix[] = "qemu-";
  // QEMU 9's targets of linux-user; its tools (qemu-img, qemu-ga) and emulators of machines are none.
  constexpr const char* kTargets[] = {"aarch64",   "alpha", "arm",        "cris",  "hexagon", "hppa",  "i386",
                                      "loongarch", "m68k",  "microblaze", "mips",  "nios2",   "or1k",  "ppc",
                                      "riscv",     "s390x", "sh4",        "sparc", "x86_64",  "xtensa"};
  const char* name = name_of(path);
  if (!begins_with(name, kPrefix)) return false;
  for (const char* target : kTargets)
    if (begins_with(name + sizeof kPrefix - 1, target)) return true;
  return false;
}

bool is_asan_runtime(const char* name) {
  return begins_with(name, "libasan.so") || begins_with(name, "libclang_rt.asan");
}

bool takes_preloads(int directory, const char* path) { return last_kind(directory, path) != Kind::kRefused; }

bool searched_takes_preloads(const char* file) {
  if (std::strchr(file, '/')) return takes_preloads(AT_FDCWD, file);
  const char* path = find_variable(environ, "PATH");
  for (const char* at = path ? path : "/bin:/usr/bin"; *at;) {
    const size_t length = std::strcspn(at, ":");
    char folder[kPathBytes] = "", full[2 * kPathBytes];
    if (length < sizeof folder) std::memcpy(folder, at, length);
    TextBuilder text(full, sizeof full);
    text.add(folder).add(length ? "/" : "").add(file);
    // What is not there, or may not be executed, is passed by, as by who searches after us.
    if (!text.overflowed() && raw_syscall(__NR_access, as_arg(full), X_OK) == 0) {
      const Kind kind = last_kind(AT_FDCWD, full);
      if (kind != Kind::kNothing) return kind != Kind::kRefused;
    }
    at += length;
    at += *at == ':';
  }
  return true;
}

bool open_takes_preloads(int fd) {
  char path[64];
  TextBuilder text(path, sizeof path);
  text.add("/proc/self/fd/").add(uint64_t(unsigned(fd)));
  return takes_preloads(AT_FDCWD, path);
}

}  // namespace varve::agent
