// SPDX-License-Identifier: MIT
// The columns of each view's CSV, by name and in order: programs read them, so they stay. Context: tests.
#include <criterion/criterion.h>

#include "test/unit/random_profile.h"
#include "viewer/render/render.h"
#include "viewer/view/request.h"

using namespace varve;
using varve::test::RandomProfile;

Test(view_columns, are_an_interface) {
  const RandomProfile made = test::random_profile(1);
  const auto first_line = [&](const char* kind) {
    const auto view = view::make(*view::find_kind(kind), {made.profile, made.symbols}, {});
    const std::string csv = render::csv(*view);
    return csv.substr(0, csv.find('\n'));
  };
  const std::string bands = ",poor_ns,ok_ns,ideal_ns,over_ns";
  const std::string place = bands + ",place";
  const std::string total_bands = ",total_poor_ns,total_ok_ns,total_ideal_ns,total_over_ns";
  const std::string states =
      ",inactive_ns,wait_ns,quanta,quantum_ns,switches_voluntary,switches_involuntary,affinity,processors_"
      "used,"
      "wait_lock_ns,wait_condition_ns,wait_io_ns,wait_sleep_ns,wait_join_ns,wait_other_ns";
  const std::pair<const char*, std::string> wanted[] = {
      {"hotspots", "function,module,file,line,self_ns,self_share,total_ns,total_share,samples" + place},
      {"threads", "pid,tid,name,start_ns,lifetime_ns,cpu_ns,samples" + states + bands},
      {"top-down", "depth,function,module,self_ns,total_ns,samples" + bands + total_bands + ",place"},
      {"bottom-up", "depth,function,module,self_ns,total_ns,samples" + bands + total_bands + ",place"},
      {"lines", "file,line,function,module,self_ns,self_share,total_ns,total_share,samples" + place},
      {"modules", "module,path,build_id,self_ns,self_share,total_ns,total_share,samples" + bands},
      {"processes", "pid,ppid,image,program,command,start_ns,lifetime_ns,cpu_ns,samples,threads" + bands},
      {"programs", "program,path,cpu_ns,samples,runs,threads" + bands},
      {"summary", "field,value"},
      {"quality", "module,reason,remedy,samples,share,cpu_ns,self_ns,unnamed_share,symbols,lines"},
  };
  for (const auto& [kind, columns] : wanted) {
    const std::string line = first_line(kind);
    cr_expect_eq(line, columns, "%s: %s", kind, line.c_str());
  }
}
