// SPDX-License-Identifier: MIT
// The v0 scheme is a small grammar read by recursive descent; the comments quote its productions.
// Context: viewer, any thread.
#include "viewer/symbol/rust_v0.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "viewer/symbol/demangle.h"
#include "viewer/symbol/rust_punycode.h"
#include "viewer/symbol/rust_text.h"

namespace varve::symbol {
namespace {

constexpr unsigned kMaxDepth = 200;
constexpr unsigned kMaxSteps = 100000;
constexpr size_t kMaxIdentifier = 4096;

struct Malformed {};

struct Basic {
  char code;
  std::string_view name;
};
constexpr Basic kBasicTypes[] = {
    {'a', "i8"},    {'b', "bool"},  {'c', "char"}, {'d', "f64"}, {'e', "str"},  {'f', "f32"},  {'h', "u8"},
    {'i', "isize"}, {'j', "usize"}, {'l', "i32"},  {'m', "u32"}, {'n', "i128"}, {'o', "u128"}, {'s', "i16"},
    {'t', "u16"},   {'u', "()"},    {'v', "..."},  {'x', "i64"}, {'y', "u64"},  {'z', "!"},    {'p', "_"}};

std::string_view basic_type(char code) {
  for (const Basic& type : kBasicTypes)
    if (type.code == code) return type.name;
  return {};
}

class V0 {
 public:
  explicit V0(std::string_view text) : text_(text) {}

  std::string run() {
    path(true);
    if (at_ < text_.size() && text_[at_] >= 'A' && text_[at_] <= 'Z') {
      printing_ = false;  // <instantiating-crate>
      path(false);
    }
    if (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '$') throw Malformed{};
    return std::move(out_);
  }

 private:
  struct Depth {
    explicit Depth(V0& reader) : reader_(reader) {
      if (++reader_.depth_ > kMaxDepth || ++reader_.steps_ > kMaxSteps) throw Malformed{};
    }
    ~Depth() { --reader_.depth_; }
    V0& reader_;
  };

  char peek() const { return at_ < text_.size() ? text_[at_] : 0; }
  char next() {
    if (at_ >= text_.size()) throw Malformed{};
    return text_[at_++];
  }
  bool eat(char c) { return peek() == c ? ++at_, true : false; }
  void print(std::string_view text) {
    if (!printing_) return;
    if (out_.size() + text.size() > max_demangled(text_.size())) throw Malformed{};
    out_ += text;
  }
  void print(uint64_t number) { print(std::to_string(number)); }

  /// <base-62-number> = { <0-9a-zA-Z> } "_"; "_" is 0, "0_" is 1.
  uint64_t base62() {
    if (eat('_')) return 0;
    uint64_t value = 0;
    while (true) {
      char c = next();
      if (c == '_') return value + 1;
      uint64_t digit = c >= '0' && c <= '9'   ? uint64_t(c - '0')
                       : c >= 'a' && c <= 'z' ? uint64_t(c - 'a' + 10)
                       : c >= 'A' && c <= 'Z' ? uint64_t(c - 'A' + 36)
                                              : 62;
      if (digit == 62 || value > (UINT64_MAX - 62) / 62 - 1) throw Malformed{};
      value = value * 62 + digit;
    }
  }

  uint64_t optional_base62(char tag) { return eat(tag) ? base62() + 1 : 0; }

  /// <undisambiguated-identifier> = ["u"] <decimal-number> ["_"] <bytes>
  std::string identifier() {
    bool punycode = eat('u');
    char c = next();
    if (c < '0' || c > '9') throw Malformed{};
    size_t size = size_t(c - '0');
    while (size && peek() >= '0' && peek() <= '9') {
      size = size * 10 + size_t(next() - '0');
      if (size > text_.size()) throw Malformed{};
    }
    eat('_');
    if (text_.size() - at_ < size) throw Malformed{};
    std::string_view bytes = text_.substr(at_, size);
    at_ += size;
    if (!punycode) return std::string(bytes);
    if (bytes.size() > kMaxIdentifier) throw Malformed{};
    std::optional<std::string> decoded = decode_punycode(bytes);
    if (!decoded) throw Malformed{};
    return *std::move(decoded);
  }

  /// <backref> = "B" <base-62-number>: an offset from after "_R", always to something before. What is not
  /// printed need not be followed, and so cannot multiply.
  template <typename Read>
  void backref(Read read) {
    size_t from = at_ - 1;
    uint64_t target = base62();
    if (target >= from) throw Malformed{};
    if (!printing_) return;
    size_t resume = std::exchange(at_, size_t(target));
    read();
    at_ = resume;
  }

  void path(bool in_value) {
    Depth depth(*this);
    switch (char tag = next(); tag) {
      case 'C':
        optional_base62('s');
        return print(identifier());
      case 'M':
        return impl_path(), angle([&] { type(); });
      case 'X':
        impl_path();
        [[fallthrough]];
      case 'Y':
        return angle([&] {
          type();
          print(" as ");
          path(false);
        });
      case 'N':
        return nested_path(in_value);
      case 'I':
        path(in_value);
        if (in_value) print("::");
        return angle([&] { list([&] { generic_arg(); }, ", "); });
      case 'B':
        return backref([&] { path(in_value); });
      default:
        throw Malformed{};
    }
  }

  template <typename Inside>
  void angle(Inside inside) {
    print("<");
    inside();
    print(">");
  }

  /// { item } "E"; gives the number of items.
  template <typename Item>
  size_t list(Item item, std::string_view separator) {
    size_t count = 0;
    for (; !eat('E'); ++count) {
      if (count) print(separator);
      item();
    }
    return count;
  }

  /// [<disambiguator>] <path>, which says where the impl stands; nobody asks for that.
  void impl_path() {
    optional_base62('s');
    bool printing = std::exchange(printing_, false);
    path(false);
    printing_ = printing;
  }

  /// "N" <namespace> <path> <identifier>
  void nested_path(bool in_value) {
    char space = next();
    path(in_value);
    uint64_t number = optional_base62('s');
    std::string name = identifier();
    if (space >= 'A' && space <= 'Z') {
      print("::{");
      print(space == 'C'   ? std::string("closure")
            : space == 'S' ? std::string("shim")
                           : std::string(1, space));
      if (!name.empty()) print(":" + name);
      print("#");
      print(number);
      return print("}");
    }
    if (space < 'a' || space > 'z') throw Malformed{};
    if (!name.empty()) print("::" + name);
  }

  void generic_arg() {
    if (eat('L')) return lifetime(base62());
    if (eat('K')) return constant();
    type();
  }

  /// De Bruijn index; 0 is erased.
  void lifetime(uint64_t index) {
    if (index == 0) return print("'_");
    if (index > lifetimes_) throw Malformed{};
    uint64_t name = lifetimes_ - index;
    if (name < 26) return print(std::string("'") + char('a' + name));
    print("'z");
    print(name - 25);
  }

  /// [<binder>] inside, with "for<'a, 'b> " before it.
  template <typename Inside>
  void binder(Inside inside) {
    uint64_t count = optional_base62('G');
    if (count > 64) throw Malformed{};
    if (count) print("for<");
    for (uint64_t i = 0; i < count; ++i) {
      if (i) print(", ");
      ++lifetimes_;
      lifetime(1);
    }
    if (count) print("> ");
    inside();
    lifetimes_ -= count;
  }

  void type() {
    Depth depth(*this);
    char tag = peek();
    if (std::string_view basic = basic_type(tag); !basic.empty()) return ++at_, print(basic);
    ++at_;
    switch (tag) {
      case 'A':
        print("[");
        type();
        print("; ");
        constant();
        return print("]");
      case 'S':
        print("[");
        type();
        return print("]");
      case 'T': {
        print("(");
        size_t count = list([&] { type(); }, ", ");
        return print(count == 1 ? ",)" : ")");
      }
      case 'R':
      case 'Q':
        print("&");
        if (eat('L'))
          if (uint64_t index = base62()) lifetime(index), print(" ");
        if (tag == 'Q') print("mut ");
        return type();
      case 'P':
        print("*const ");
        return type();
      case 'O':
        print("*mut ");
        return type();
      case 'F':
        return binder([&] { function_signature(); });
      case 'D':
        return dyn_type();
      case 'B':
        return backref([&] { type(); });
      default:
        --at_;
        return path(false);
    }
  }

  /// ["U"] ["K" <abi>] { <type> } "E" <type>
  void function_signature() {
    if (eat('U')) print("unsafe ");
    if (eat('K')) {
      std::string abi = eat('C') ? "C" : identifier();
      std::replace(abi.begin(), abi.end(), '_', '-');
      print("extern \"" + abi + "\" ");
    }
    print("fn(");
    list([&] { type(); }, ", ");
    print(")");
    if (eat('u')) return;
    print(" -> ");
    type();
  }

  /// "D" [<binder>] { <dyn-trait> } "E" <lifetime>
  void dyn_type() {
    print("dyn ");
    binder([&] { list([&] { dyn_trait(); }, " + "); });
    if (!eat('L')) throw Malformed{};
    if (uint64_t index = base62()) print(" + "), lifetime(index);
  }

  /// <path> { "p" <undisambiguated-identifier> <type> }: the bindings join the generic arguments of the path.
  void dyn_trait() {
    bool open = path_with_open_generics();
    while (eat('p')) {
      print(open ? ", " : "<");
      open = true;
      print(identifier());
      print(" = ");
      type();
    }
    if (open) print(">");
  }

  bool path_with_open_generics() {
    Depth depth(*this);
    if (eat('B')) {
      bool open = false;
      backref([&] { open = path_with_open_generics(); });
      return open;
    }
    if (!eat('I')) return path(false), false;
    path(false);
    print("<");
    list([&] { generic_arg(); }, ", ");
    return true;
  }

  void constant() {
    Depth depth(*this);
    char tag = next();
    if (tag == 'p') return print("_");
    if (tag == 'B') return backref([&] { constant(); });
    bool negative = std::string_view("asxlni").find(tag) != std::string_view::npos && eat('n');
    std::string digits;
    for (char c = next(); c != '_'; c = next()) {
      if (hex_digit(c) < 0) throw Malformed{};
      digits += c;
    }
    if (std::string_view("bcasxlnihtmyoj").find(tag) == std::string_view::npos) throw Malformed{};
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.size() > 16) return print((negative ? "-0x" : "0x") + digits);
    uint64_t value = 0;
    for (char c : digits) value = value << 4 | uint64_t(hex_digit(c));
    if (tag == 'b') return print(value ? "true" : "false");
    if (tag == 'c') return character(value);
    if (negative) print("-");
    print(value);
  }

  void character(uint64_t value) {
    if (value > UINT32_MAX || !is_scalar(uint32_t(value))) throw Malformed{};
    std::string text = "'";
    append_utf8(text, uint32_t(value));
    print(text + "'");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
  bool printing_ = true;
  unsigned depth_ = 0;
  unsigned steps_ = 0;
  uint64_t lifetimes_ = 0;
};

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view mangled) {
  try {
    std::string text = V0(mangled).run();
    return text.empty() ? std::optional<std::string>() : text;
  } catch (const Malformed&) {
    return {};
  }
}

}  // namespace varve::symbol
