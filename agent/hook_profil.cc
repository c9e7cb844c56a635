// SPDX-License-Identifier: MIT
// The C library's own profiler, of programs that were built with -pg: it sets the disposition of SIGPROF past
// all hooks and puts back later what it found. It must find our handler, then: by the default action a tick
// would end the program. What it sets becomes the program's, as if by sigaction(), so its timer counts what
// it would have counted. A tick of another thread goes to it in the moment between; then it counts once more.
// Context: any thread of the target, before main() too.
#include <sys/gmon.h>
#include <sys/profil.h>
#include <unistd.h>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"

namespace varve::agent {
namespace {

using Startup = void(unsigned long, unsigned long);
Real<Startup> real_monstartup{"monstartup"}, real_inner_monstartup{"__monstartup"};
Real<void(int)> real_moncontrol{"moncontrol"};
Real<void()> real_mcleanup{"_mcleanup"};
Real<int(unsigned short*, size_t, size_t, unsigned)> real_profil{"profil"};
Real<int(struct prof*, int, timeval*, unsigned)> real_sprofil{"sprofil"};

/// One of the C library's two, each with its own word of what was before it.
struct Profiler {
  bool on = false;
  struct sigaction without = {};  // what the program has SIGPROF do while it is off

  /// It is on where its handler is in the kernel after the call, else off, and ours is there again: also in a
  /// child that is not recorded.
  template <typename Call>
  void around(Call call) {
    start_before_our_turn();
    ProgramSignal* signal = in_recorded_process() ? agent_state.program_signal(SIGPROF) : nullptr;
    const struct sigaction before = signal ? signal->get() : without;
    call();
    if (!signal) return void(on = on && !give_back_tick_signal(SIGPROF, without));
    const bool now = take_action_from_kernel(*signal);
    if (now && !on) without = before;
    if (!now && on) set_program_action(*signal, without);
    on = now;
  }
};
constinit Profiler profiler{}, wide_profiler{};

}  // namespace

void resolve_profil_hooks() {
  real_monstartup.get(), real_inner_monstartup.get(), real_moncontrol.get(), real_mcleanup.get();
  real_profil.get(), real_sprofil.get();
}

VARVE_HOOK void monstartup(unsigned long low, unsigned long high) noexcept {
  profiler.around([=] { real_monstartup(low, high); });
}
VARVE_HOOK void __monstartup(unsigned long low, unsigned long high) noexcept {
  profiler.around([=] { real_inner_monstartup(low, high); });
}
VARVE_HOOK void moncontrol(int on) noexcept {
  profiler.around([=] { real_moncontrol(on); });
}
VARVE_HOOK void _mcleanup() noexcept {
  profiler.around([] { real_mcleanup(); });
}

VARVE_HOOK int profil(unsigned short* counts, size_t bytes, size_t offset, unsigned scale) noexcept {
  int result = 0;
  profiler.around([&] { result = real_profil(counts, bytes, offset, scale); });
  return result;
}
VARVE_HOOK int sprofil(struct prof* regions, int count, timeval* period, unsigned flags) noexcept {
  int result = 0;
  wide_profiler.around([&] { result = real_sprofil(regions, count, period, flags); });
  return result;
}

}  // namespace varve::agent
