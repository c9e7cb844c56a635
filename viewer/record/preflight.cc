// SPDX-License-Identifier: MIT
// The checks, and the table that orders them. See preflight.h.
// Context: viewer.
#include "viewer/record/preflight.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>

#include "viewer/record/elf_facts.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/loader_list.h"
#include "viewer/record/process_tree.h"
#include "viewer/record/profile_directory.h"
#include "viewer/record/program_search.h"
#include "viewer/record/shell_words.h"

namespace varve::record {
namespace {

/// What the checks find out for those after them.
struct Subject {
  const PreflightRequest& request;
  Verdict& verdict;
  FoundProgram program;
  std::optional<ElfFacts> elf;
  std::optional<LoaderList> list;

  const std::string& file() const { return program.file(); }
};

struct Answer {
  Severity severity;
  std::string sentence;
  std::string remedy;
  int exit_code = 126;  // of a problem
};

Answer ok(std::string sentence) { return {Severity::kOk, std::move(sentence), ""}; }
Answer warning(std::string sentence, std::string remedy) {
  return {Severity::kWarning, std::move(sentence), std::move(remedy)};
}
Answer problem(std::string sentence, std::string remedy, int exit_code = 126) {
  return {Severity::kProblem, std::move(sentence), std::move(remedy), exit_code};
}

/// How many files more this process may have open, at most `most`.
int files_left(int most) {
  std::vector<int> opened;
  for (int each; int(opened.size()) < most && (each = open("/", O_PATH | O_CLOEXEC)) >= 0;)
    opened.push_back(each);
  for (const int each : opened) close(each);
  return int(opened.size());
}

/// First: without files no other check says what is true.
Answer check_files(Subject&) {
  constexpr int kLeast = 8;    // the profile's and its session's, two pipes to the command
  constexpr int kEnough = 16;  // and the observer's, and what is asked of /proc meanwhile
  const int left = files_left(kEnough);
  rlimit limit{};
  if (left == kEnough || getrlimit(RLIMIT_NOFILE, &limit) != 0) return ok("room for open files");
  const auto sentence = [&](int needed) {
    return fmt::format("of the {} files that may be open at once (ulimit -n) {} are left, and varve needs {}",
                       limit.rlim_cur, left, needed);
  };
  constexpr const char* kRemedy = "raise that limit, or close files";
  if (left < kLeast) return problem(sentence(kLeast), kRemedy, 125);
  return warning(sentence(kEnough) + " to see run states, too", kRemedy);
}

Answer check_command(Subject& subject) {
  auto found = find_program(subject.request.argv[0], std::getenv("PATH"));
  if (!found) return problem(found.error().sentence, found.error().remedy, found.error().exit_code);
  subject.program = *found;
  subject.verdict.program = subject.file();
  const auto& chain = subject.program.chain;
  std::string sentence = fmt::format("{}", chain[0]);
  for (size_t i = 1; i < chain.size(); ++i)
    sentence += fmt::format("{}{}", i == 1 ? " is a script for " : ", then ", chain[i]);
  if (subject.program.clears_environment)
    return warning(sentence + " with a cleared environment, so the agent does not get into it",
                   "name the interpreter: varve record INTERPRETER SCRIPT");
  return ok(sentence);
}

Answer check_format(Subject& subject) {
  const std::string& file = subject.file();
  if (access(file.c_str(), R_OK) != 0)
    return warning(fmt::format("{} may be run but not read, so it cannot be checked", file), "chmod +r it");
  if (!is_elf(file))
    return problem(fmt::format("{} is no program of this system", file), "name a program or a script");
  auto facts = read_elf_facts(file);
  if (!facts) return problem(fmt::format("{} {}", file, facts.error()), "build or install it again");
  if (facts->machine == EM_386 || facts->bits == 32)
    return problem(fmt::format("{} is a 32-bit program; varve records 64-bit ones", file),
                   "build it with -m64");
  if (facts->machine != EM_X86_64 || !facts->little_endian)
    return problem(fmt::format("{} is for another kind of processor", file), "build it for x86-64");
  if (facts->type != ET_EXEC && facts->type != ET_DYN)
    return problem(fmt::format("{} is an ELF file but no program", file), "link it");
  subject.elf = std::move(*facts);
  return ok("64-bit x86 ELF program");
}

Answer check_linking(Subject& subject) {
  const ElfFacts& elf = *subject.elf;
  if (!elf.interpreter.empty())
    return ok(elf.go ? "dynamically linked Go program (cgo)" : "dynamically linked");
  if (elf.go)
    return problem(
        fmt::format("{} is a statically linked Go program: nothing can be preloaded into it", subject.file()),
        "use Go's own profiler (runtime/pprof, go tool pprof)");
  const char* kind = elf.type == ET_DYN && elf.dynamic ? "static-pie" : "statically linked";
  return problem(fmt::format("{} is {}: nothing can be preloaded into it", subject.file(), kind),
                 "link it without -static and record that");
}

Answer check_interpreter(Subject& subject) {
  const std::string& loader = subject.elf->interpreter;
  std::string_view base = std::string_view(loader).substr(loader.find_last_of('/') + 1);
  if (base.starts_with("ld-musl"))
    return problem(fmt::format("{} is built for the musl C library; the agent needs glibc", subject.file()),
                   "build it against glibc and record that");
  if (access(loader.c_str(), X_OK) != 0)
    return problem(fmt::format("the dynamic loader of {}, {}, is missing", subject.file(), loader),
                   "install the C library it was built for, or build it here");
  return ok(loader);
}

/// The kernel runs such programs in secure mode, in which the loader ignores LD_PRELOAD.
bool privileges_count(const std::string& file) {
  struct statvfs mount;
  bool nosuid = statvfs(file.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID);
  return !nosuid && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

Answer check_privileges(Subject& subject) {
  const std::string& file = subject.file();
  struct stat status;
  if (stat(file.c_str(), &status) != 0 || !privileges_count(file)) return ok("no change of user");
  const char* why = nullptr;
  if ((status.st_mode & S_ISUID) && status.st_uid != getuid())
    why = "is setuid";
  else if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid())
    why = "is setgid";
  else if (getuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0)
    why = "has file capabilities";
  if (!why && (getuid() != geteuid() || getgid() != getegid()))
    return problem("varve itself runs setuid or setgid, so the loader would ignore the agent",
                   "run a plain copy of varve");
  if (!why) return ok("no change of user");
  return problem(fmt::format("{} {}: the loader ignores the agent in it", file, why),
                 fmt::format("record a copy without that (cp {} /tmp), as a user who may do what it does",
                             shell_quoted(file)));
}

Answer check_agent(Subject& subject) {
  const std::string& agent = subject.request.agent;
  if (agent.empty())
    return problem("libvarve.so is not beside varve nor in ../lib/varve",
                   "install varve again (make install)", 125);
  if (access(agent.c_str(), R_OK) != 0)
    return problem(fmt::format("{} cannot be read: {}", agent, std::strerror(errno)),
                   "install varve again (make install)", 125);
  if (agent.find_first_of(" :") != std::string::npos)
    return problem(
        fmt::format("the path of the agent, {}, has a space or a colon, which LD_PRELOAD cannot hold", agent),
        "move varve to another folder", 125);
  subject.verdict.preload.push_back(agent);
  const char* theirs = std::getenv("LD_PRELOAD");
  if (theirs && *theirs) return ok(fmt::format("{}, before LD_PRELOAD={}", agent, theirs));
  return ok(agent);
}

std::string preload_text(const Subject& subject) {
  std::string text = subject.request.agent;
  if (const char* theirs = std::getenv("LD_PRELOAD"); theirs && *theirs) text += std::string(":") + theirs;
  return text;
}

Answer wrong_version(const Subject& subject, const LoaderList::WrongVersion& wrong) {
  bool agent = wrong.wanted_by.find("libvarve.so") != std::string::npos;
  if (agent)
    return problem(fmt::format("the C library of {} is too old for the agent: {} has no {}", subject.file(),
                               wrong.library, wrong.version),
                   "build varve on the system that the program is for");
  return problem(fmt::format("{} has no {}, which {} needs", wrong.library, wrong.version, wrong.wanted_by),
                 "install a newer version of that library, or build the program here");
}

Answer check_libraries(Subject& subject) {
  subject.list = ask_loader(subject.elf->interpreter, subject.file(), preload_text(subject));
  if (!subject.list)
    return errno == EAGAIN
               ? warning("no process can be made to list the libraries, so they are not checked",
                         "look at ulimit -u")
               : warning("the dynamic loader does not list the libraries, so they are not checked",
                         "look at ldd");
  for (const auto& library : subject.list->libraries)
    if (library.path.empty())
      return problem(fmt::format("{} is missing, which {} needs", library.name, subject.file()),
                     "install the package that has it, or add its folder to LD_LIBRARY_PATH");
  if (!subject.list->wrong_versions.empty()) return wrong_version(subject, subject.list->wrong_versions[0]);
  for (const std::string& object : subject.list->not_preloaded)
    return warning(fmt::format("{} of LD_PRELOAD cannot be preloaded", object), "correct LD_PRELOAD");
  return ok(fmt::format("{} libraries found", subject.list->libraries.size()));
}

/// AddressSanitizer ends the program if its runtime is not the first library.
Answer check_sanitizers(Subject& subject) {
  const ElfFacts& elf = *subject.elf;
  if (elf.needs("libtsan.so") || elf.defines_tsan)
    return warning("ThreadSanitizer holds signals back until the next call it watches, so samples land there",
                   "record a build without -fsanitize=thread");
  if (elf.defines_msan)
    return warning("MemorySanitizer slows the program down unevenly",
                   "record a build without -fsanitize=memory");
  if (elf.defines_asan) return ok("AddressSanitizer is linked into the program");
  if (!elf.needs("libasan.so")) return ok("none");
  const LoaderList::Library* runtime = subject.list ? subject.list->find("libasan.so") : nullptr;
  if (!runtime)
    return problem("the runtime of AddressSanitizer is not found, and it must come before the agent",
                   "set LD_PRELOAD to libasan.so yourself");
  subject.verdict.preload.insert(subject.verdict.preload.begin(), runtime->path);
  return ok(fmt::format("{} goes before the agent", runtime->path));
}

Answer check_output_place(Subject& subject) {
  const std::string& output = subject.request.output;
  if (auto good = check_output(output, subject.request.output_may_exist); !good)
    return problem(good.error().sentence, "", good.error().wrong_name ? 2 : 125);
  size_t slash = output.find_last_of('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : output.substr(0, slash);
  struct statvfs mount;
  constexpr uint64_t kLittle = 16 << 20;  // bytes; minutes of recording
  if (statvfs(folder.c_str(), &mount) == 0 && mount.f_blocks &&
      uint64_t(mount.f_bavail) * mount.f_frsize < kLittle)
    return warning(fmt::format("the disk of '{}' is nearly full; recording ends when it is", folder),
                   "use -o DIR on another disk");
  return ok(output);
}

/// An agent in this very process would send the command's samples where its own go, unless it follows nobody:
/// then it has taken its session out of the environment.
Answer check_recorder(Subject&) {
  const char* other = std::getenv("VARVE_SESSION");
  if (!other || !is_followed(getpid())) return ok("none records what varve starts");
  return problem(
      fmt::format("varve itself is being recorded into '{}', which gets the samples of all that it starts",
                  other),
      "record the command without the outer varve, or give that one --no-follow");
}

Answer check_timers(Subject&) {
  timer_t timer;
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  const bool made = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
  if (!made && errno != EAGAIN)  // that is a limit, which has a check of its own
    return warning(fmt::format("the kernel refuses timers of CPU clocks ({}), so there will be no samples",
                               std::strerror(errno)),
                   "allow timer_create in the container's seccomp profile");
  if (made) timer_delete(timer);
  return ok("CPU clock timers can be made");
}

/// "1234/95744" of SigQ: every timer takes one of the user's queued signals.
Answer check_limits(Subject&) {
  const std::string text(value_in(small_file("/proc/self/status"), "SigQ"));
  uint64_t used = 0, limit = 0;
  constexpr uint64_t kFewThreads = 256;
  if (std::sscanf(text.c_str(), "%lu/%lu", &used, &limit) == 2 && limit < used + kFewThreads)
    return warning(fmt::format("this user may queue only {} more signals, and each thread needs one",
                               limit > used ? limit - used : 0),
                   "raise it: ulimit -i unlimited");
  rlimit size{};
  constexpr rlim_t kSmallFile = 64 << 20;
  if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur < kSmallFile)
    return warning(fmt::format("files are limited to {} bytes; recording ends there", size.rlim_cur),
                   "raise it: ulimit -f unlimited");
  return ok("room for timers and files");
}

/// Linux 5.9 to 5.15 lose the CPU timers of threads that were made just before (found by Go, issue 49065).
Answer check_kernel(Subject&) {
  utsname names{};
  unsigned major = 0, minor = 0;
  if (uname(&names) == 0 && std::sscanf(names.release, "%u.%u", &major, &minor) == 2 && major == 5 &&
      minor >= 9 && minor <= 15)
    return warning(fmt::format("Linux {} may lose the timers of new threads", names.release),
                   "use Linux 5.16 or newer");
  return ok(fmt::format("Linux {}", names.release));
}

enum class Needs { kNothing, kProgram, kElf };

struct Check {
  std::string_view name;
  Needs needs;
  Answer (*run)(Subject&);
};

constexpr Check kChecks[] = {
    {"files", Needs::kNothing, check_files},       {"command", Needs::kNothing, check_command},
    {"format", Needs::kProgram, check_format},     {"linking", Needs::kElf, check_linking},
    {"loader", Needs::kElf, check_interpreter},    {"privileges", Needs::kProgram, check_privileges},
    {"agent", Needs::kNothing, check_agent},       {"libraries", Needs::kElf, check_libraries},
    {"sanitizers", Needs::kElf, check_sanitizers}, {"output", Needs::kNothing, check_output_place},
    {"recorder", Needs::kNothing, check_recorder}, {"timers", Needs::kNothing, check_timers},
    {"limits", Needs::kNothing, check_limits},     {"kernel", Needs::kNothing, check_kernel},
};

/// A check of the program makes no sense once another one has failed.
bool makes_sense(const Check& check, const Subject& subject) {
  if (check.needs == Needs::kNothing) return true;
  if (subject.verdict.problem()) return false;
  return check.needs == Needs::kProgram || subject.elf.has_value();
}

/// Without links and dots; empty where there is no such file.
std::string real_path(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string result = real ? real : "";
  free(real);
  return result;
}

}  // namespace

const Finding* Verdict::problem() const {
  for (const Finding& finding : findings)
    if (finding.severity == Severity::kProblem) return &finding;
  return nullptr;
}

Verdict preflight(const PreflightRequest& request) {
  Verdict verdict;
  Subject subject{request, verdict, {}, {}, {}};
  for (const Check& check : kChecks) {
    if (!makes_sense(check, subject)) continue;
    Answer answer = check.run(subject);
    if (answer.severity == Severity::kProblem && !verdict.exit_code) verdict.exit_code = answer.exit_code;
    verdict.findings.push_back(
        {check.name, answer.severity, std::move(answer.sentence), std::move(answer.remedy)});
  }
  return verdict;
}

std::string find_agent(bool waits) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  std::string folder(self, length > 0 ? size_t(length) : 0);
  folder.resize(folder.find_last_of('/') == std::string::npos ? 0 : folder.find_last_of('/'));
  const std::string places[] = {folder, folder + "/../lib/varve", VARVE_LIBDIR};
  for (const std::string& place : places) {
    if (std::string path = waits ? "" : real_path(place + "/no-waits/libvarve.so"); !path.empty())
      return path;
    if (std::string path = real_path(place + "/libvarve.so"); !path.empty()) return path;
  }
  return "";
}

}  // namespace varve::record
