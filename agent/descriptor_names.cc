// SPDX-License-Identifier: MIT
// See descriptor_names.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/descriptor_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "agent/event_log.h"
#include "agent/signal/agent_state.h"
#include "agent/text.h"

namespace varve::agent {
namespace {

constinit EventLog names;

/// The last name of a number, as a hash; two numbers with the same place are written in turn.
struct Known {
  int fd = -1;
  uint32_t hash = 0;
};
constexpr uint32_t kKnown = 256;
constinit Known known[kKnown];

constexpr uint32_t kMostName = 256;

unsigned port_of(const sockaddr_storage& address) {
  // Of IPv4 and IPv6 in the same place.
  const bool has = address.ss_family == AF_INET || address.ss_family == AF_INET6;
  return has ? ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port) : 0;
}

void add_address(TextBuilder& text, const sockaddr_storage& address) {
  char digits[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    text.add(inet_ntop(AF_INET, &in.sin_addr, digits, sizeof digits));
    text.add(":").add(uint64_t(port_of(address)));
  } else if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    text.add("[").add(inet_ntop(AF_INET6, &in.sin6_addr, digits, sizeof digits)).add("]");
    text.add(":").add(uint64_t(port_of(address)));
  } else if (address.ss_family == AF_UNIX) {
    // An abstract name begins with a NUL and is no text.
    const auto& un = reinterpret_cast<const sockaddr_un&>(address);
    text.add(un.sun_path[0] ? un.sun_path : "unix");
  }
}

bool ask(int call, int fd, sockaddr_storage& address) {
  socklen_t size = sizeof address;
  return !failed(raw_syscall(call, fd, as_arg(&address), as_arg(&size)));
}

/// "socket 127.0.0.1:6379", the peer, or "socket at 0.0.0.0:80", its own address: of the two the one with the
/// smaller port, which is the server's, so that all connections of a server are one. False: no socket.
bool name_socket(int fd, TextBuilder& text) {
  sockaddr_storage own{}, peer{};
  if (!ask(__NR_getsockname, fd, own)) return false;
  const bool to_peer = ask(__NR_getpeername, fd, peer) && port_of(peer) <= port_of(own);
  text.add(to_peer ? "socket " : "socket at ");
  add_address(text, to_peer ? peer : own);
  return true;
}

/// As /proc has it: a path, "pipe:[81]", "anon_inode:[eventpoll]".
void name_file(int fd, TextBuilder& text) {
  char link[40];
  TextBuilder(link, sizeof link).add("/proc/self/fd/").add(uint64_t(unsigned(fd)));
  char path[kMostName];
  const long size = raw_syscall(__NR_readlink, as_arg(link), as_arg(path), sizeof path - 1);
  path[size > 0 ? size : 0] = 0;
  text.add(path);
}

/// A filter of system calls may end the program for one that it did not foresee.
bool may_ask() { return raw_syscall(__NR_prctl, PR_GET_SECCOMP) == 0; }

void write_name(int fd, const char* name, uint64_t time_ns) {
  const auto bytes = uint32_t(std::strlen(name)) + 1;
  const uint32_t size = format::round_up(uint32_t(sizeof(format::DescriptorRecord)) + bytes, 8);
  uint8_t* out = names.begin_record(size, time_ns);
  if (!out) return;
  format::DescriptorRecord record{};
  record.header = {uint16_t(size), uint8_t(format::RecordKind::kDescriptor), 0};
  record.fd = fd;
  record.time_ns = time_ns;
  std::memcpy(out, &record, sizeof record);
  std::memcpy(out + sizeof record, name, bytes);
  names.commit(size, time_ns);
}

}  // namespace

uint64_t inode_of_pipe(int fd) {
  struct stat info;
  if (!may_ask() || failed(raw_syscall(__NR_fstat, fd, as_arg(&info)))) return 0;
  return S_ISFIFO(info.st_mode) ? info.st_ino : 0;
}

void note_descriptor(int fd, uint64_t time_ns) {
  if (fd < 0 || !may_ask()) return;
  char name[kMostName] = {};
  TextBuilder text(name, sizeof name);
  if (!name_socket(fd, text)) name_file(fd, text);
  if (!name[0]) return;
  const uint32_t hash = format::fnv1a(reinterpret_cast<const uint8_t*>(name), std::strlen(name));
  EventGuard guard(names);
  Known& last = known[unsigned(fd) % kKnown];
  if (last.fd == fd && last.hash == hash) return;
  last = {fd, hash};
  write_name(fd, name, time_ns);
}

void note_output_pipes(uint64_t time_ns) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (inode_of_pipe(fd) != 0) note_descriptor(fd, time_ns);
}

void forget_descriptor_names() {
  names.begin_anew();
  for (Known& each : known) each = {};
}

}  // namespace varve::agent
