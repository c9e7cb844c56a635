// SPDX-License-Identifier: MIT
// Demangling and short names: tables of names and what a reader should see. Context: tests.
#include <criterion/criterion.h>

#include <string>

#include "viewer/symbol/demangle.h"
#include "viewer/symbol/perf_map.h"
#include "viewer/symbol/rust_names.h"

using namespace varve::symbol;

namespace {

struct Case {
  const char* linkage;
  const char* full;
  const char* short_form;
};

void check_name(const Case& wanted) {
  Demangled got = demangle(wanted.linkage);
  cr_expect_eq(got.full, wanted.full, "%s: %s", wanted.linkage, got.full.c_str());
  cr_expect_eq(got.short_form, wanted.short_form, "%s: %s", wanted.linkage, got.short_form.c_str());
}

}  // namespace

Test(symbol_demangle, cxx_names) {
  constexpr Case kCases[] = {
      {"main", "main", "main"},
      {"_Z", "_Z", "_Z"},
      {"_ZNope", "_ZNope", "_ZNope"},
      {"_ZN2ns5QueueIiE4pushERKi", "ns::Queue<int>::push(int const&)", "ns::Queue::push"},
      {"_ZN2ns5QueueISt4pairIiS1_IcfEEE4pushEv",
       "ns::Queue<std::pair<int, std::pair<char, float> > >::push()", "ns::Queue::push"},
      {"_Z3maxIiET_S0_S0_", "int max<int>(int, int)", "max"},
      {"_ZN1AcvbEv", "A::operator bool()", "A::operator bool"},
      {"_ZNK1AcvRKNSt6stringEEv", "A::operator std::string const&() const", "A::operator std::string const&"},
      {"_ZNK1AcvPKcEv", "A::operator char const*() const", "A::operator char const*"},
      {"_ZNK1AcvSt6vectorIiSaIiEEEv", "A::operator std::vector<int, std::allocator<int> >() const",
       "A::operator std::vector<int, std::allocator<int> >"},
      {"_ZNK1AcvPFviEEv", "A::operator void (*)(int)() const", "A::operator void (*)(int)"},
      {"_ZZNK1AcvPKcEvENKUlvE_clEv", "A::operator char const*() const::{lambda()#1}::operator()() const",
       "A::operator char const*::{lambda#1}::operator()"},
      {"_ZN1AltERKS_", "A::operator<(A const&)", "A::operator<"},
      {"_ZN1AlsIiEERS_T_", "A& A::operator<< <int>(int)", "A::operator<<"},
      {"_ZN1AgtERKS_", "A::operator>(A const&)", "A::operator>"},
      {"_ZN1AptEv", "A::operator->()", "A::operator->"},
      {"_ZN1AclEv", "A::operator()()", "A::operator()"},
      {"_ZN1AixEi", "A::operator[](int)", "A::operator[]"},
      {"_ZN1AssERKS_", "A::operator<=>(A const&)", "A::operator<=>"},
      {"_ZN1AnaEm", "A::operator new[](unsigned long)", "A::operator new[]"},
      {"_Znwm", "operator new(unsigned long)", "operator new"},
      {"_ZdlPv", "operator delete(void*)", "operator delete"},
      {"_Zli3_kmy", "operator\"\" _km(unsigned long long)", "operator\"\" _km"},
      {"_ZN12_GLOBAL__N_14helpEi", "(anonymous namespace)::help(int)", "help"},
      {"_ZN1a12_GLOBAL__N_14helpEi", "a::(anonymous namespace)::help(int)", "a::help"},
      {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const",
       "main::{lambda#1}::operator()"},
      {"_ZZN1A1fEvENKUlPFviEE0_clES1_", "A::f()::{lambda(void (*)(int))#2}::operator()(void (*)(int)) const",
       "A::f::{lambda#2}::operator()"},
      {"_ZN3FooC2Ev", "Foo::Foo()", "Foo::Foo"},
      {"_ZN3FooD0Ev", "Foo::~Foo()", "Foo::~Foo"},
      {"_ZN3FooC4Ev", "Foo::Foo()", "Foo::Foo"},
      {"_Z3fooB5cxx11v", "foo[abi:cxx11]()", "foo"},
      {"_ZN3Foo3barEv.cold", "Foo::bar() [clone .cold]", "Foo::bar.cold"},
      {"_ZN3Foo3barEv.part.0.constprop.1", "Foo::bar() [clone .part.0] [clone .constprop.1]",
       "Foo::bar.part.0.constprop.1"},
      {"foo.isra.0", "foo.isra.0", "foo.isra.0"},
      {"_ZTv0_n24_N3Foo3barEv", "virtual thunk to Foo::bar()", "Foo::bar"},
      {"_ZNSt8functionIFviEEC2IZ4mainEUliE_vEEOT_",
       "std::function<void (int)>::function<main::{lambda(int)#1}, void>(main::{lambda(int)#1}&&)",
       "std::function::function"},
      {"_ZNKSt5arrayIiLm4EE4sizeEv", "std::array<int, 4ul>::size() const", "std::array::size"},
      {"_Z1fILi2EEvT_IXgtfp_Li1EEE", "void f<2>(2<({parm#1}>(1))>)", "f"},
  };
  for (const Case& wanted : kCases) check_name(wanted);
}

Test(symbol_demangle, names_from_debug_information) {
  cr_expect_eq(short_cxx_name("(anonymous namespace)::Reader::each_range<main()::<lambda(int)> >"),
               "Reader::each_range");
  cr_expect_eq(short_cxx_name("main()::<lambda(int)>::operator()"), "main::<lambda>::operator()");
  cr_expect_eq(short_cxx_name("operator<< <int>"), "operator<<");
  cr_expect_eq(short_cxx_name("A::operator const std::string&"), "A::operator const std::string&");
  cr_expect_eq(short_cxx_name("A::operator new[]"), "A::operator new[]");
  cr_expect_eq(short_cxx_name("plain"), "plain");
  cr_expect_eq(short_cxx_name(""), "");
  cr_expect_eq(short_cxx_name("<<<>"), "<<<>");
  cr_expect_eq(short_cxx_name("a<b"), "a");
  cr_expect_eq(short_cxx_name("my_operator(int)"), "my_operator");
}

Test(symbol_demangle, rust_names) {
  constexpr Case kCases[] = {
      {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
       "core::fmt::Formatter::pad"},
      {"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
       "<alloc::string::String as core::fmt::Display>::fmt", "alloc::string::String::fmt"},
      {"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE."
       "llvm.123",
       "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", "alloc::vec::Vec::drop"},
      {"_ZN42_$LT$$RF$$RF$mut$u20$T$u20$as$u20$a..B$GT$1f17h0123456789abcdefE", "<&&mut T as a::B>::f",
       "T::f"},
      {"_ZN66_$LT$impl$u20$a..B$u20$for$u20$$RF$impl$u20$a..B$u20$for$u20$T$GT$1f17h0123456789abcdefE",
       "<impl a::B for &impl a::B for T>::f", "T::f"},
      {"_ZN4main4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "main::main::{{closure}}",
       "main::main::{{closure}}"},
      {"_RNvC7mycrate4main", "mycrate::main", "mycrate::main"},
      {"_RNvCs1234_7mycrate4main", "mycrate::main", "mycrate::main"},
      {"_RNvMs_NtCskJkGdqMZW4C_5alloc3vecINtB4_3VecyE4push", "<alloc::vec::Vec<u64>>::push",
       "alloc::vec::Vec::push"},
      {"_RNCNvC7mycrate4main0B3_", "mycrate::main::{closure#0}", "mycrate::main::{closure#0}"},
      {"_RNCNvC7mycrate4mains_0B3_", "mycrate::main::{closure#1}", "mycrate::main::{closure#1}"},
      {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>", "std::mem::align_of"},
      {"_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>", "std::mem::align_of"},
      {"_RNvXC7mycrateNtC7mycrate3FooNtNtC4core3fmt7Display3fmt", "<mycrate::Foo as core::fmt::Display>::fmt",
       "mycrate::Foo::fmt"},
      {"_RNvYhNtC3std5Trait4call", "<u8 as std::Trait>::call", "u8::call"},
      {"_RINvC3std1fRhQhPhOhE", "std::f::<&u8, &mut u8, *const u8, *mut u8>", "std::f"},
      {"_RINvC3std1fFUKCThjERhEuE", "std::f::<unsafe extern \"C\" fn((u8, usize), &u8)>", "std::f"},
      {"_RINvC3std1fAhj4_E", "std::f::<[u8; 4]>", "std::f"},
      {"_RINvC3std1fShE", "std::f::<[u8]>", "std::f"},
      {"_RINvC3std1fThEE", "std::f::<(u8,)>", "std::f"},
      {"_RINvC3std1fKj7b_Kb1_Kc61_Kin5_E", "std::f::<123, true, 'a', -5>", "std::f"},
      {"_RINvC3std1fDG_INtC3std2FnTRL0_hEEp6OutputuEL_E",
       "std::f::<dyn for<'a> std::Fn<(&'a u8,), Output = ()>>", "std::f"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
       "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
       "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8",
       "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
       "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8"},
      {"_RNvC1a", "_RNvC1a", "_RNvC1a"},
      {"_R", "_R", "_R"},
  };
  for (const Case& wanted : kCases) check_name(wanted);
}

Test(symbol_demangle, growth_is_bounded) {
  // pair<int, int>, then a pair of two of the last, and so on: the text doubles with every 8 characters.
  std::string bomb = "_Z1fSt4pairIiiE";
  std::string last = "S_";
  for (int i = 0; i < 34; ++i) {
    bomb += "S0_I" + last + last + "E";
    last = "S" + std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i + 1]) + "_";
  }
  Demangled names = demangle(bomb);
  cr_expect_eq(names.full, bomb);
  std::string deep = "_Z1f" + std::string(50000, 'P') + "i";
  cr_expect_leq(demangle(deep).full.size(), max_demangled(deep.size()));
  std::string rust = "_RINvC1a1f";
  for (int i = 0; i < 60; ++i) rust += "TBa_Ba_E";
  cr_expect_leq(demangle(rust + "E").full.size(), max_demangled(rust.size() + 1));
  cr_expect_eq(demangle("_R" + std::string(5000, 'S') + "h").full.size(), 5003);
  cr_expect_eq(demangle(std::string(kMaxLinkageName + 1, 'x')).full.size(), kMaxLinkageName + 1);
}

Test(symbol_demangle, jit_names) {
  struct Wanted {
    const char *text, *function, *file;
    uint32_t line;
  };
  constexpr Wanted kCases[] = {
      {"JS:*parse /srv/app.js:12:5", "JS:*parse", "/srv/app.js", 12},
      {"LazyCompile:~walk file:///srv/a b.mjs:3:1", "LazyCompile:~walk", "/srv/a b.mjs", 3},
      {"JS:*parse /home/me/my app/a.js:12:5", "JS:*parse", "/home/me/my app/a.js", 12},
      {"JS:* /home/me/my app/a.js:12:5", "JS:*(anonymous a.js:12)", "/home/me/my app/a.js", 12},
      {"JS:^get size node:internal/fs/a:2:1", "JS:^get size", "node:internal/fs/a", 2},
      {"JS:~load webpack://a.js:2:1", "JS:~load", "webpack://a.js", 2},
      {"JS:* file:///srv/app.js:1:1", "JS:*(anonymous app.js:1)", "/srv/app.js", 1},
      {"py::run:/usr/lib/python3.12/runpy.py", "py::run", "/usr/lib/python3.12/runpy.py", 0},
      {"py::no_file", "py::no_file", "", 0},
      {"Interpreter", "Interpreter", "", 0},
      {"Ljava/lang/String;::indexOf", "Ljava/lang/String;::indexOf", "", 0},
      {"Builtin:Call_ReceiverIsAny", "Builtin:Call_ReceiverIsAny", "", 0},
      {"a:99999999999:1", "a:99999999999:1", "", 0},
  };
  for (const Wanted& wanted : kCases) {
    JitName name = parse_jit_name(wanted.text);
    cr_expect_eq(name.function, wanted.function, "%s: %s", wanted.text, name.function.c_str());
    cr_expect_eq(name.file, wanted.file, "%s: %s", wanted.text, name.file.c_str());
    cr_expect_eq(name.line, wanted.line, "%s", wanted.text);
  }
}
