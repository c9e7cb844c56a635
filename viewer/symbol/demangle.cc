// SPDX-License-Identifier: MIT
// The C++ demangler is that of the C++ runtime, in its form that hands out the text piece by piece: a name of
// 300 bytes can stand for gigabytes of text, and this form can be stopped. Context: viewer, any thread.
#include "viewer/symbol/demangle.h"

#include <algorithm>
#include <cctype>

#include "viewer/symbol/rust_names.h"

// libsupc++/cp-demangle.c. In libstdc++.a only, not in the shared library. No header declares it.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled, void (*take)(const char*, size_t, void*),
                                             void* opaque);

namespace varve::symbol {
namespace {

struct TooLong {};

struct BoundedText {
  size_t limit;
  std::string text;
};

void append_bounded(const char* text, size_t size, void* opaque) {
  auto& out = *static_cast<BoundedText*>(opaque);
  // The demangler is C with unwind tables and holds nothing, so it can be left this way.
  if (out.text.size() + size > out.limit) throw TooLong{};
  out.text.append(text, size);
}

std::string demangle_cxx(const std::string& name) {
  BoundedText out{max_demangled(name.size()), ""};
  try {
    if (__gcclibcxx_demangle_callback(name.c_str(), append_bounded, &out) != 0) return {};
  } catch (const TooLong&) {
    return {};
  }
  return out.text;
}

bool starts_component(std::string_view done) { return done.empty() || done.ends_with("::"); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

/// Of what stands behind "operator": whether that is a type, not a word like "new" or a symbol.
bool is_conversion(std::string_view tail) {
  if (!tail.starts_with(' ')) return false;
  const auto end = std::ranges::find_if_not(tail.substr(1), is_word);
  const std::string_view word(tail.begin() + 1, end);
  return word != "new" && word != "delete" && word != "co_await";
}

/// Where a type ends that the parameters, none, of a conversion follow, or an ABI tag: it may have brackets
/// itself.
size_t end_of_type(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (depth == 0 && (rest.starts_with("()") || rest.starts_with("[abi:"))) return i;
    depth += text[i] == '<' || text[i] == '(';
    depth -= (text[i] == '>' || text[i] == ')') && depth;
  }
  return text.size();
}

/// A cursor that passes over bracketed text and copies the rest.
class Shortener {
 public:
  explicit Shortener(std::string_view name) : rest_(name) {}

  std::string run() {
    cut_clones();
    while (!rest_.empty() && !stop_) step();
    return out_.empty() ? std::string() : out_ + clones_;
  }

 private:
  /// " [clone .part.0] [clone .cold]" becomes ".part.0.cold", as the symbol table spells it.
  void cut_clones() {
    constexpr std::string_view kClone = " [clone ";
    for (size_t at; rest_.ends_with(']') && (at = rest_.rfind(kClone)) != std::string_view::npos;) {
      clones_.insert(0, rest_.substr(at + kClone.size(), rest_.size() - at - kClone.size() - 1));
      rest_ = rest_.substr(0, at);
    }
  }

  void step() {
    char c = rest_.front();
    if (c == 'o' && (out_.empty() || !is_word(out_.back())) && take_operator()) return;
    if (c == '<') return starts_component(out_) ? take_named_bracket('<', '>') : skip_template();
    if (c == '{') return take_named_bracket('{', '}');
    if (c == '[') return skip_to(']');
    if (c == '(') return take_parenthesis();
    if (c == ' ') {
      out_.clear();  // that was the return type
    } else {
      out_ += c;
    }
    rest_.remove_prefix(1);
  }

  bool take_operator() {
    constexpr std::string_view kWord = "operator";
    if (!rest_.starts_with(kWord) || (rest_.size() > kWord.size() && is_word(rest_[kWord.size()])))
      return false;
    size_t end = kWord.size();
    std::string_view tail = rest_.substr(end);
    if (is_conversion(tail)) {
      end += end_of_type(tail);
      tail = {};
    }
    for (std::string_view symbol :
         {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}) {
      if (!tail.starts_with(symbol)) continue;
      end += symbol.size();
      tail = {};
    }
    // " new[]", "\"\" _km", "+=": up to the parameters or the template arguments.
    if (!tail.empty()) end += std::min(tail.find_first_of("(<"), tail.size());
    out_ += rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (rest_.starts_with(" <")) rest_.remove_prefix(1);  // "operator<< <int>"
    return true;
  }

  /// "{lambda(int)#1}" and "<lambda(int)>": the brackets stay, the parameters go.
  void take_named_bracket(char open, char close) {
    size_t depth = 0, parentheses = 0;
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      char c = rest_.front();
      depth += c == open && !parentheses;
      parentheses += c == '(';
      if (!parentheses) out_ += c;
      parentheses -= c == ')' && parentheses;
      depth -= c == close && !parentheses && depth;
      if (depth == 0) return rest_.remove_prefix(1);
    }
  }

  void skip_template() {
    size_t depth = 0;
    char before = 0;
    while (!rest_.empty()) {
      char c = rest_.front();
      if (c == '(') {
        skip_parenthesis();
        before = ')';
        continue;
      }
      rest_.remove_prefix(1);
      depth += c == '<';
      if (c == '>' && before != '-' && --depth == 0) return;
      before = c;
    }
  }

  void skip_parenthesis() {
    size_t depth = 0;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      depth += c == '(';
      if (c == ')' && --depth == 0) return;
    }
  }

  void skip_to(char close) {
    size_t end = rest_.find(close);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  }

  void take_parenthesis() {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (rest_.starts_with(kAnonymous)) {
      rest_.remove_prefix(kAnonymous.size());
      if (rest_.starts_with("::")) rest_.remove_prefix(2);
      return;
    }
    skip_parenthesis();
    // "f(int) const::{lambda()#1}": what is local to a function follows its qualifiers.
    for (std::string_view qualifier : {" const", " volatile", " &&", " &"})
      if (rest_.starts_with(qualifier)) rest_.remove_prefix(qualifier.size());
    stop_ = rest_.empty() || rest_.starts_with('[');
  }

  std::string_view rest_;
  std::string out_;
  std::string clones_;
  bool stop_ = false;
};

}  // namespace

std::string short_cxx_name(std::string_view name) {
  std::string text = Shortener(name).run();
  return text.empty() ? std::string(name) : text;
}

Demangled demangle(std::string_view linkage_name) {
  std::string name(linkage_name);
  if (name.size() > kMaxLinkageName) return {name, name};
  if (auto rust = demangle_rust(name)) return {*rust, short_rust_name(*rust)};
  if (!name.starts_with("_Z")) return {name, name};
  std::string full = demangle_cxx(name);
  if (full.empty()) return {name, name};
  return {full, short_cxx_name(full)};
}

}  // namespace varve::symbol
