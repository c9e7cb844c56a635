// SPDX-License-Identifier: MIT
// A table of system calls that wait. See call_objects.h.
// Context: viewer.
#include "viewer/load/call_objects.h"

#include <sys/syscall.h>

#include <algorithm>

namespace varve::load {
namespace {

using Arguments = std::array<uint64_t, 2>;
using format::ObjectKind;

CallObject futex(const Arguments& arguments) { return {ObjectKind::kFutex, arguments[0]}; }
CallObject sleep(const Arguments&) { return {ObjectKind::kSleep, 0}; }
CallObject descriptor(const Arguments& arguments) {
  return {ObjectKind::kDescriptor, uint32_t(arguments[0])};
}
CallObject output(const Arguments& arguments) {
  return {ObjectKind::kDescriptor, uint32_t(arguments[0]) | format::kToSend};
}
CallObject signal(const Arguments&) { return {ObjectKind::kSignal, 0}; }
CallObject semaphores(const Arguments& arguments) {
  return {ObjectKind::kSemaphores, uint32_t(arguments[0])};
}
CallObject receiving(const Arguments& arguments) { return {ObjectKind::kQueue, uint32_t(arguments[0])}; }
CallObject sending(const Arguments& arguments) {
  return {ObjectKind::kQueue, uint32_t(arguments[0]) | format::kToSend};
}
CallObject file_lock(const Arguments& arguments) { return {ObjectKind::kFileLock, uint32_t(arguments[0])}; }
CallObject epoll(const Arguments& arguments) { return {ObjectKind::kPoll, uint32_t(arguments[0])}; }
/// The second argument of poll counts descriptors, the first of select is the last of them and one.
CallObject poll(const Arguments& arguments) {
  return arguments[1] ? CallObject{ObjectKind::kPoll, format::kNoDescriptor} : sleep(arguments);
}
CallObject select(const Arguments& arguments) {
  return arguments[0] ? CallObject{ObjectKind::kPoll, format::kNoDescriptor} : sleep(arguments);
}
/// A pid, or any child.
CallObject wait4(const Arguments& arguments) {
  const auto pid = int32_t(uint32_t(arguments[0]));
  return {ObjectKind::kChild, pid > 0 ? uint64_t(pid) : 0};
}
/// The first argument says what the second is: 1 is P_PID.
CallObject waitid(const Arguments& arguments) {
  return {ObjectKind::kChild, arguments[0] == 1 ? uint64_t(uint32_t(arguments[1])) : 0};
}

struct Row {
  int32_t number;
  CallObject (*object)(const Arguments&);
};
constexpr Row kTable[] = {
    {SYS_futex, futex},
    {SYS_nanosleep, sleep},
    {SYS_clock_nanosleep, sleep},
    {SYS_pause, signal},
    {SYS_rt_sigsuspend, signal},
    {SYS_rt_sigtimedwait, signal},
    {SYS_semop, semaphores},
    {SYS_semtimedop, semaphores},
    {SYS_msgrcv, receiving},
    {SYS_msgsnd, sending},
    {SYS_flock, file_lock},
    {SYS_fcntl, file_lock},  // of its commands only those wait
    {SYS_poll, poll},
    {SYS_ppoll, poll},
    {SYS_select, select},
    {SYS_pselect6, select},
    {SYS_epoll_wait, epoll},
    {SYS_epoll_pwait, epoll},
    {441, epoll},  // epoll_pwait2, newer than the headers of old distributions
    {SYS_wait4, wait4},
    {SYS_waitid, waitid},
    {SYS_read, descriptor},
    {SYS_pread64, descriptor},
    {SYS_readv, descriptor},
    {SYS_preadv, descriptor},
    {SYS_preadv2, descriptor},
    {SYS_write, output},
    {SYS_pwrite64, output},
    {SYS_writev, output},
    {SYS_pwritev, output},
    {SYS_pwritev2, output},
    {SYS_accept, descriptor},
    {SYS_accept4, descriptor},
    {SYS_connect, descriptor},
    {SYS_recvfrom, descriptor},
    {SYS_recvmsg, descriptor},
    {SYS_recvmmsg, descriptor},
    {SYS_sendto, output},
    {SYS_sendmsg, output},
    {SYS_sendmmsg, output},
    {SYS_sendfile, output},
    {SYS_splice, descriptor},
    {SYS_tee, descriptor},
    {SYS_fsync, descriptor},
    {SYS_fdatasync, descriptor},
    {SYS_sync_file_range, descriptor},
    {SYS_ftruncate, descriptor},
    {SYS_fallocate, descriptor},
    {SYS_ioctl, descriptor},
    {SYS_getdents64, descriptor},
    {SYS_close, descriptor},
    {SYS_io_uring_enter, descriptor},
};

}  // namespace

CallObject object_of_call(int32_t number, const Arguments& arguments) {
  const auto row = std::ranges::find(kTable, number, &Row::number);
  return row == std::end(kTable) ? CallObject{} : row->object(arguments);
}

}  // namespace varve::load
