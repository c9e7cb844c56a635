// SPDX-License-Identifier: MIT
// Names of functions in too few columns keep the name itself. Context: tests.
#include "viewer/render/elide_name.h"

#include <criterion/criterion.h>

#include <clocale>
#include <random>

#include "viewer/render/escape.h"

using namespace varve::render;

Test(elide_name, the_own_name_stays) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  struct Case {
    const char* name;
    size_t width;
    const char* wanted;
  };
  for (const Case& each : {
           Case{"v8::internal::JsonStringifier::SerializeString", 24, "...fier::SerializeString"},
           {"v8::internal::JsonStringifier::Serialize_<true>(v8::internal::Handle<v8::internal::Object>, "
            "bool)",
            34, "...ngifier::Serialize_<true>(...)"},
           {"void java.util.concurrent.ConcurrentHashMap.putIfAbsent(java.lang.Object)", 24,
            "...hMap.putIfAbsent(...)"},
           {"com.example.Factory.handleIncomingRequestWithParameters(java.lang.String)", 24,
            "...handleInc...arameters"},
           {"Lcom/example/server/QueueHandler;::handle", 20, "...eHandler;::handle"},
           {"LazyCompile:*handleIncoming /srv/app/queue.js:12:3", 18, "...handleIncoming"},
           {"fold_binary.constprop.0.isra.1", 24, "fold_binary...p.0.isra.1"},
           {"a::Queue<std::pair<int,int>>::operator()(int) const", 24, "...nt>>::operator()(...)"},
           {"ns::X::operator<<(std::ostream&)", 18, "...operator<<(...)"},
           {"(anonymous namespace)::Foo::bar(int)", 18, "...::Foo::bar(int)"},
           {"libverylongname.so.5+0x15990", 18, "libveryl...0x15990"},
           {"std::vector<int>::push_back (inlined)", 24, "...::push_back (inlined)"},
           {"日本語::スコープ::関数名(日本)", 18, "...プ::関数名(...)"},
           {"__memmove_avx_unaligned_erms", 18, "__memmov...ed_erms"},
           {"__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > > "
            "std::__unguarded_partition<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, "
            "__gnu_cxx::__ops::_Iter_less_iter>(__gnu_cxx::__normal_iterator<int*, std::vector<int> >, "
            "__gnu_cxx::__ops::_Iter_less_iter)",
            57, "...std::__unguarded_partition<...>(__gnu_cxx...less_iter)"},
           {"unsigned long std::count_all<std::vector<int>, (Kind)3>(int)", 28,
            "...std::count_all<...>(int)"},
           {"unsigned long std::count_all<std::vector<int>, (Kind)3>(int)", 20, "...d::count_all(int)"},
           {"void count_all<std::vector<int> >(int)", 24, "...count_all<...>(int)"},
           {"bool __ops::_Iter_less::operator()<Iterator<int(int)>, int>(Iterator<int>) const", 30,
            "..._less::operator()<...>(...)"},
           {"ns::Arena::operator new(unsigned long)", 24, "...na::operator new(...)"},
           {"outer(int, char const*) const::{lambda(int)#1}::operator()(int) const", 48,
            "...const::{lambda(int)#1}::operator()(int) const"},
           {"make_all_of_them<std::vector<int>, std::vector<long> >", 24, "make_all_of_them<...>"},
           {"short", 5, "short"},
       }) {
    const std::string got = elide_name(each.name, each.width);
    cr_expect(got == each.wanted, "%s in %zu: %s", each.name, each.width, got.c_str());
  }
}

Test(elide_name, any_text_fits) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  std::mt19937_64 random(5);
  const std::string parts[] = {"::", "(",     ")",   "<", ">", ".", " ",    "operator",  "日本",
                               "f",  "queue", "+0x", "/", ":", "*", "isra", "(inlined)", "0"};
  for (int i = 0; i < 5000; ++i) {
    std::string name;
    for (size_t j = random() % 12; j > 0; --j) name += parts[random() % std::size(parts)];
    for (const size_t width : {size_t{0}, size_t{1}, size_t{3}, size_t(random() % 40)}) {
      const std::string got = elide_name(name, width);
      cr_expect_leq(display_width(got), std::max(width, size_t{0}), "%s in %zu: %s", name.c_str(), width,
                    got.c_str());
      if (display_width(name) <= width) cr_expect(got == name);
    }
  }
}
