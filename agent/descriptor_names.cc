// SPDX-License-Identifier: MIT
// See descriptor_names.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/descriptor_names.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "agent/event_log.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/filtered.h"
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

/// By descriptor: what it was that keeps its name as long as it lives, see settled_key(), and what of it is
/// known. To ask for the name again would take five system calls.
constexpr uint32_t kSettled = 1024;
constexpr uint64_t kNamed = 1, kWithinMachine = 2, kSettledBits = 3;
constinit std::atomic<uint64_t> settled[kSettled];

constexpr uint32_t kMostName = 256;
constexpr uint32_t kMostFlow = 2 * INET6_ADDRSTRLEN + 24;

/// A name, and what comes in and goes out there: two descriptors have the same flow where who reads from the
/// one reads what another writes to the other. Empty: nobody knows.
struct Description {
  char name[kMostName] = {};
  char in[kMostFlow] = {}, out[kMostFlow] = {};
};

/// An eventfd, an epoll descriptor and the like.
bool has_no_type(const struct stat& status) { return (status.st_mode & S_IFMT) == 0; }

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

struct Ends {
  sockaddr_storage own{}, peer{};
};
/// False: not a socket with two ends.
bool find_ends(int fd, Ends& ends) {
  return ask(__NR_getsockname, fd, ends.own) && ask(__NR_getpeername, fd, ends.peer);
}

bool same_machine(const Ends& ends) {
  if (ends.own.ss_family != ends.peer.ss_family) return false;
  const auto address = [](const sockaddr_storage& end) {
    return end.ss_family == AF_INET
               ? reinterpret_cast<const uint8_t*>(&reinterpret_cast<const sockaddr_in&>(end).sin_addr)
               : reinterpret_cast<const uint8_t*>(&reinterpret_cast<const sockaddr_in6&>(end).sin6_addr);
  };
  const size_t size = ends.own.ss_family == AF_INET    ? sizeof(in_addr)
                      : ends.own.ss_family == AF_INET6 ? sizeof(in6_addr)
                                                       : 0;
  return size != 0 && std::memcmp(address(ends.own), address(ends.peer), size) == 0;
}

void write_flow(char* flow, const sockaddr_storage& from, const sockaddr_storage& to) {
  TextBuilder text(flow, kMostFlow);
  add_address(text, from);
  text.add(" > ");
  add_address(text, to);
}

/// "socket 127.0.0.1:6379", the peer, or "socket at 0.0.0.0:80", its own address: of the two the one with the
/// smaller port, which is the server's, so that all connections of a server are one. True: it has both ends,
/// and keeps them.
bool describe_socket(int fd, Description& description) {
  Ends ends;
  const bool has_both = find_ends(fd, ends);
  if (!has_both && !ask(__NR_getsockname, fd, ends.own)) return false;
  TextBuilder text(description.name, sizeof description.name);
  const bool to_peer = has_both && port_of(ends.peer) <= port_of(ends.own);
  text.add(to_peer ? "socket " : "socket at ");
  add_address(text, to_peer ? ends.peer : ends.own);
  if (!has_both || !same_machine(ends)) return has_both;
  write_flow(description.in, ends.peer, ends.own);
  write_flow(description.out, ends.own, ends.peer);
  return true;
}

/// As /proc has it: a path, "pipe:[81]", "anon_inode:[eventfd]". What has no file type, an eventfd, leads
/// from the process to itself. True: it stays so; what has a path may get another.
bool describe_file(int fd, const struct stat& status, Description& description) {
  char link[40];
  TextBuilder(link, sizeof link).add("/proc/self/fd/").add(uint64_t(unsigned(fd)));
  const long size =
      raw_syscall(__NR_readlink, as_arg(link), as_arg(description.name), sizeof description.name - 1);
  description.name[size > 0 ? size : 0] = 0;
  TextBuilder text(description.in, sizeof description.in);
  if (S_ISFIFO(status.st_mode))
    text.add("pipe ").add(uint64_t(status.st_dev)).add(" ").add(uint64_t(status.st_ino));
  else if (has_no_type(status))
    text.add("process ").add(uint64_t(raw_syscall(__NR_getpid))).add(" ").add(uint64_t(unsigned(fd)));
  std::memcpy(description.out, description.in, sizeof description.in);
  return size > 0 && description.in[0];
}

uint32_t bytes_of(const char* text) { return uint32_t(std::strlen(text)) + 1; }

/// False: there is no room at the moment; where there will be none it is as good as written.
bool write_description(int fd, const Description& description, uint64_t time_ns) {
  const char* const texts[] = {description.name, description.in, description.out};
  uint32_t bytes = sizeof(format::DescriptorRecord);
  for (const char* text : texts) bytes += bytes_of(text);
  const uint32_t size = format::round_up(bytes, 8);
  uint8_t* out = names.begin_record(size, time_ns);
  if (!out) return names.is_full() || agent_state.file.error() != 0;
  format::DescriptorRecord record{};
  record.header = {uint16_t(size), uint8_t(format::RecordKind::kDescriptor), 0};
  record.fd = fd;
  record.time_ns = time_ns;
  std::memcpy(out, &record, sizeof record);
  out += sizeof record;
  for (const char* text : texts) {
    std::memcpy(out, text, bytes_of(text));
    out += bytes_of(text);
  }
  names.commit(size, time_ns);
  return true;
}

bool look_at(int fd, struct stat& status) {
  return fd >= 0 && !is_filtered() && !failed(raw_syscall(__NR_fstat, fd, as_arg(&status)));
}

/// Of a descriptor and what it leads to, by its inode. All that has no type has one inode: for a tenth of a
/// second it is taken to be what it was.
uint64_t settled_key(int fd, const struct stat& status, uint64_t time_ns) {
  const uint64_t parts[] = {uint64_t(unsigned(fd)), uint64_t(status.st_dev), uint64_t(status.st_ino),
                            uint64_t(status.st_mode & S_IFMT), has_no_type(status) ? time_ns >> 27 : 0};
  uint64_t key = 0;
  for (const uint64_t part : parts) key = (key ^ part) * 0x9e3779b97f4a7c15u, key ^= key >> 32;
  return key & ~kSettledBits;
}

/// What is known of it; 0: nothing.
uint64_t settled_as(int fd, uint64_t key) {
  const uint64_t last = settled[unsigned(fd) % kSettled].load(std::memory_order_relaxed);
  return (last & ~kSettledBits) == key ? last : 0;
}
void settle(int fd, uint64_t what) {
  settled[unsigned(fd) % kSettled].store(what, std::memory_order_relaxed);
}

/// Writes a description unless it is the last of this number. False: it is to be tried again.
bool write_once(int fd, const Description& description, uint64_t time_ns) {
  const uint32_t hash = format::fnv1a(reinterpret_cast<const uint8_t*>(&description), sizeof description);
  EventGuard guard(names);
  Known& last = known[unsigned(fd) % kKnown];
  if (last.fd == fd && last.hash == hash) return true;
  if (!write_description(fd, description, time_ns)) return false;
  last = {fd, hash};
  return true;
}

}  // namespace

void note_descriptor(int fd, uint64_t time_ns) {
  struct stat status {};
  if (!look_at(fd, status)) return;
  const uint64_t key = settled_key(fd, status, time_ns);
  if (settled_as(fd, key) & kNamed) return;
  Description description;
  const bool is_socket = S_ISSOCK(status.st_mode);
  const bool stays = is_socket ? describe_socket(fd, description) : describe_file(fd, status, description);
  if (!description.name[0]) return;
  if (write_once(fd, description, time_ns) && stays)
    settle(fd, key | kNamed | (is_socket && description.in[0] ? kWithinMachine : 0));
}

Traffic traffic_of(int fd) {
  struct stat status {};
  if (!look_at(fd, status)) return Traffic::kNone;
  if (S_ISFIFO(status.st_mode)) return Traffic::kPipe;
  if (has_no_type(status)) return Traffic::kOther;
  if (!S_ISSOCK(status.st_mode)) return Traffic::kNone;
  const uint64_t known_as = settled_as(fd, settled_key(fd, status, 0));
  if (known_as) return known_as & kWithinMachine ? Traffic::kOther : Traffic::kNone;
  Ends ends;
  return find_ends(fd, ends) && same_machine(ends) ? Traffic::kOther : Traffic::kNone;
}

bool is_nonblocking_socket(int fd) {
  struct stat status {};
  return look_at(fd, status) && S_ISSOCK(status.st_mode) &&
         (raw_syscall(__NR_fcntl, fd, F_GETFL) & O_NONBLOCK);
}

void note_standard_pipes(uint64_t time_ns) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (traffic_of(fd) == Traffic::kPipe) note_descriptor(fd, time_ns);
}

void forget_descriptor_names() {
  names.begin_anew();
  for (Known& each : known) each = {};
  for (std::atomic<uint64_t>& each : settled) each.store(0, std::memory_order_relaxed);
}

}  // namespace varve::agent
