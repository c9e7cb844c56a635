// SPDX-License-Identifier: MIT
// A table of system calls that wait. See wait_kind.h.
// Context: viewer.
#include "viewer/record/observe/wait_kind.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>

// Newer than the headers of old distributions.
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace varve::record::observe {
namespace {

using Judge = WaitKind (*)(const SyscallLook& look, const IsSibling& is_sibling);

template <WaitKind Kind>
WaitKind always(const SyscallLook&, const IsSibling&) {
  return Kind;
}

/// The second argument of poll counts descriptors; without any it is a sleep.
WaitKind poll_kind(const SyscallLook& look, const IsSibling&) {
  return look.arguments[1] ? WaitKind::kIo : WaitKind::kSleep;
}
WaitKind select_kind(const SyscallLook& look, const IsSibling&) {
  return look.arguments[0] ? WaitKind::kIo : WaitKind::kSleep;
}

/// The C library's mutex waits, privately, for its word to be no longer 2; pthread_join waits, not privately,
/// for the kernel to clear the thread's id.
WaitKind futex_kind(const SyscallLook& look, const IsSibling& is_sibling) {
  auto operation = int(look.arguments[1]);
  auto expected = uint32_t(look.arguments[2]);
  constexpr uint32_t kLockedWithWaiters = 2;
  bool is_private = operation & FUTEX_PRIVATE_FLAG;
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
      return WaitKind::kLock;
    case FUTEX_WAIT:
      if (is_private && expected == kLockedWithWaiters) return WaitKind::kLock;
      [[fallthrough]];
    case FUTEX_WAIT_BITSET:
      return !is_private && is_sibling(pid_t(expected)) ? WaitKind::kJoin : WaitKind::kCondition;
    default:
      return WaitKind::kCondition;
  }
}

struct Row {
  long number;
  Judge judge;
};

constexpr Judge kIo = always<WaitKind::kIo>, kSleep = always<WaitKind::kSleep>,
                kJoin = always<WaitKind::kJoin>, kCondition = always<WaitKind::kCondition>;

constexpr Row kTable[] = {
    {SYS_futex, futex_kind},
    {SYS_futex_waitv, kCondition},
    {SYS_semop, kCondition},
    {SYS_semtimedop, kCondition},
    {SYS_wait4, kJoin},
    {SYS_waitid, kJoin},
    {SYS_nanosleep, kSleep},
    {SYS_clock_nanosleep, kSleep},
    {SYS_pause, kSleep},
    {SYS_rt_sigsuspend, kSleep},
    {SYS_rt_sigtimedwait, kSleep},
    {SYS_poll, poll_kind},
    {SYS_ppoll, poll_kind},
    {SYS_select, select_kind},
    {SYS_pselect6, select_kind},
    {SYS_epoll_wait, kIo},
    {SYS_epoll_pwait, kIo},
    {SYS_epoll_pwait2, kIo},
    {SYS_read, kIo},
    {SYS_pread64, kIo},
    {SYS_readv, kIo},
    {SYS_preadv, kIo},
    {SYS_preadv2, kIo},
    {SYS_write, kIo},
    {SYS_pwrite64, kIo},
    {SYS_writev, kIo},
    {SYS_pwritev, kIo},
    {SYS_pwritev2, kIo},
    {SYS_accept, kIo},
    {SYS_accept4, kIo},
    {SYS_connect, kIo},
    {SYS_shutdown, kIo},
    {SYS_recvfrom, kIo},
    {SYS_recvmsg, kIo},
    {SYS_recvmmsg, kIo},
    {SYS_sendto, kIo},
    {SYS_sendmsg, kIo},
    {SYS_sendmmsg, kIo},
    {SYS_sendfile, kIo},
    {SYS_splice, kIo},
    {SYS_tee, kIo},
    {SYS_vmsplice, kIo},
    {SYS_copy_file_range, kIo},
    {SYS_readahead, kIo},
    {SYS_fsync, kIo},
    {SYS_fdatasync, kIo},
    {SYS_sync, kIo},
    {SYS_syncfs, kIo},
    {SYS_sync_file_range, kIo},
    {SYS_msync, kIo},
    {SYS_open, kIo},
    {SYS_openat, kIo},
    {SYS_openat2, kIo},
    {SYS_creat, kIo},
    {SYS_close, kIo},
    {SYS_stat, kIo},
    {SYS_lstat, kIo},
    {SYS_fstat, kIo},
    {SYS_newfstatat, kIo},
    {SYS_statx, kIo},
    {SYS_access, kIo},
    {SYS_faccessat, kIo},
    {SYS_readlink, kIo},
    {SYS_readlinkat, kIo},
    {SYS_getdents, kIo},
    {SYS_getdents64, kIo},
    {SYS_truncate, kIo},
    {SYS_ftruncate, kIo},
    {SYS_fallocate, kIo},
    {SYS_rename, kIo},
    {SYS_renameat, kIo},
    {SYS_renameat2, kIo},
    {SYS_unlink, kIo},
    {SYS_unlinkat, kIo},
    {SYS_mkdir, kIo},
    {SYS_mkdirat, kIo},
    {SYS_rmdir, kIo},
    {SYS_flock, kIo},
    {SYS_fcntl, kIo},
    {SYS_ioctl, kIo},
    {SYS_io_getevents, kIo},
    {SYS_io_uring_enter, kIo},
    {SYS_mq_timedsend, kIo},
    {SYS_mq_timedreceive, kIo},
    {SYS_msgsnd, kIo},
    {SYS_msgrcv, kIo},
};

constexpr size_t kNumbers = 512;  // above all of the table

consteval std::array<Judge, kNumbers> by_number() {
  std::array<Judge, kNumbers> judges{};
  judges.fill(always<WaitKind::kOther>);
  for (const Row& row : kTable) judges[size_t(row.number)] = row.judge;
  return judges;
}
constexpr std::array<Judge, kNumbers> kJudges = by_number();

}  // namespace

WaitKind kind_of_wait(const SyscallLook& look, const IsSibling& is_sibling) {
  bool known = look.number >= 0 && size_t(look.number) < kNumbers;
  return known ? kJudges[size_t(look.number)](look, is_sibling) : WaitKind::kOther;
}

long syscall_number_in(std::string_view code) {
  using namespace std::string_view_literals;
  constexpr std::string_view kLoad = "\xb8"sv, kSyscall = "\x0f\x05"sv;  // mov $NUMBER,%eax; syscall
  if (!code.ends_with(kSyscall)) return -1;
  uint32_t number = 0;
  size_t last = code.size() - kSyscall.size();
  if (last < kLoad.size() + sizeof number) return -1;
  // The nearest load that leads to a plausible number: its own bytes may look like another.
  for (size_t at = last - kLoad.size() - sizeof number + 1; at-- > 0;) {
    if (code[at] != kLoad[0]) continue;
    std::memcpy(&number, code.data() + at + 1, sizeof number);
    if (number < kNumbers) return long(number);
  }
  return -1;
}

}  // namespace varve::record::observe
