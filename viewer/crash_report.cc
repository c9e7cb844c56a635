// SPDX-License-Identifier: MIT
// The crash handler. What it does is not allowed in a signal handler in general, but the process is lost
// already: a second fault or a hang ends it by the default action or by the alarm. Context: viewer.
#include "viewer/crash_report.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#define BOOST_STACKTRACE_LINK
#include <boost/stacktrace.hpp>

namespace varve {
namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr unsigned kPatienceSeconds = 10;   // reading debug information of a large library takes one or two
constexpr size_t kStackBytes = 256 * 1024;  // the stack trace is formatted on it

void (*crash_cleanup)() = nullptr;
int failure_exit = 1;

void write_out(const char* text) {
  const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(written);
}

/// A limit that may explain a crash; empty where none is low. For signal handlers.
const char* too_little() {
  constexpr rlim_t kEnoughMemory = 1 << 30, kEnoughStack = 1 << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < kEnoughMemory)
    return "there may be too little memory (ulimit -v); if it is not that, ";
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kEnoughStack)
    return "the stack may be too small (ulimit -s); if it is not that, ";
  return "";
}

void report(const char* what) {
  if (crash_cleanup != nullptr) crash_cleanup();
  signal(SIGALRM, SIG_DFL);
  alarm(kPatienceSeconds);
  write_out("varve: internal error: ");
  write_out(what);
  write_out("; ");
  write_out(too_little());
  write_out("this is a bug in varve " VARVE_VERSION ", please report it with these lines:\n");
  write_out(boost::stacktrace::to_string(boost::stacktrace::stacktrace()).c_str());
  alarm(0);
}

/// Watchdogs send SIGABRT: that is no error of ours.
[[maybe_unused]] void on_fatal_signal(int number, siginfo_t* info, void*) {
  for (const int each : kFatal) signal(each, SIG_DFL);
  const bool sent = number == SIGABRT && info->si_code <= 0 && info->si_pid != getpid();
  if (sent && crash_cleanup != nullptr) crash_cleanup();
  const char* name = sigdescr_np(number);
  if (!sent) report(name != nullptr ? name : "fatal signal");
  raise(number);
}

[[noreturn, maybe_unused]] void on_terminate() {
  std::string what = "unexpected termination";
  if (const std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::bad_alloc&) {
      if (crash_cleanup != nullptr) crash_cleanup();
      write_out("varve: there is not enough memory\n");
      _exit(failure_exit);
    } catch (const std::exception& error) {
      what = std::string("uncaught exception: ") + error.what();
    } catch (...) {
      what = "uncaught exception of unknown type";
    }
  }
  signal(SIGABRT, SIG_DFL);
  report(what.c_str());
  std::abort();
}

}  // namespace

void set_crash_cleanup(void (*cleanup)()) { crash_cleanup = cleanup; }

void set_failure_exit(int code) { failure_exit = code; }

void install_crash_report() {
#ifndef __SANITIZE_ADDRESS__  // its own report says more
  static char stack[kStackBytes];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO;
  // One that is ignored stays so, for the command that is executed.
  struct sigaction before {};
  for (const int number : kFatal)
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  std::set_terminate(on_terminate);
#endif
}

}  // namespace varve
