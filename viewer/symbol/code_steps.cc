// SPDX-License-Identifier: MIT
// The lengths of instructions, from the tables of Intel's manual (volume 2, appendix A), as strings of a
// letter an opcode. What the tables do not know is disassembled.
// Context: viewer.
#include "viewer/symbol/code_steps.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "viewer/symbol/disassemble.h"

namespace varve::symbol {
namespace {

/// What follows an opcode. '.': nothing. m: ModRM. b: a byte; B: ModRM and a byte. z: 4 bytes, 2 with the
/// prefix 66; Z: ModRM and that. w: 2 bytes. e: 3 bytes. v: as z, but 8 with REX.W. o: an address of 8 bytes.
/// j: a jump by a byte; J: a call or jump by 4 bytes. g, G: ModRM, and b, z for the first two of its group.
/// p: a prefix. r: REX. X, V, E: another map. x: invalid or not looked at.
constexpr std::string_view kOneByte =
    "mmmmbzxxmmmmbzxX"   // 00
    "mmmmbzxxmmmmbzxx"   // 10
    "mmmmbzpxmmmmbzpx"   // 20
    "mmmmbzpxmmmmbzpx"   // 30
    "rrrrrrrrrrrrrrrr"   // 40
    "................"   // 50
    "xxEmppppzZbB...."   // 60
    "jjjjjjjjjjjjjjjj"   // 70
    "BZxBmmmmmmmmmmmx"   // 80
    "..........x....."   // 90
    "oooo....bz......"   // a0
    "bbbbbbbbvvvvvvvv"   // b0
    "BBw.VVBZe.w..bx."   // c0
    "mmmmxxx.mmmmmmmm"   // d0
    "jjjjbbbbJJxj...."   // e0
    "p.pp..gG......mm";  // f0
constexpr std::string_view kTwoByte =
    "mmmmx.....x.xm.x"   // 00
    "mmmmmmmmmmmmmmmm"   // 10
    "mmmmxxxxmmmmmmmm"   // 20
    "........XxXxxxxx"   // 30
    "mmmmmmmmmmmmmmmm"   // 40
    "mmmmmmmmmmmmmmmm"   // 50
    "mmmmmmmmmmmmmmmm"   // 60
    "BBBBmmm.xxxxmmmm"   // 70
    "JJJJJJJJJJJJJJJJ"   // 80
    "mmmmmmmmmmmmmmmm"   // 90
    "...mBmxx...mBmmm"   // a0
    "mmmmmmmmmxBmmmmm"   // b0
    "mmBmBBBm........"   // c0
    "mmmmmmmmmmmmmmmm"   // d0
    "mmmmmmmmmmmmmmmm"   // e0
    "mmmmmmmmmmmmmmmx";  // f0
static_assert(kOneByte.size() == 256 && kTwoByte.size() == 256);

/// One instruction. `size` 0: not known.
struct Shape {
  size_t size = 0;
  uint64_t target = 0;
};

class ShapeReader {
 public:
  ShapeReader(std::span<const uint8_t> bytes, uint64_t address) : bytes_(bytes), address_(address) {}

  Shape read() {
    const char kind = opcode();
    if (!follow(kind) || at_ > bytes_.size() || at_ > kLongest) return {};
    return {at_, branch_size_ ? address_ + at_ + uint64_t(branch()) : pointer_ ? address_ + at_ + moved_ : 0};
  }

 private:
  static constexpr size_t kLongest = 15;

  /// 0 behind the end, where size says that there was none.
  uint8_t next() { return at_ < bytes_.size() ? bytes_[at_++] : (++at_, uint8_t{0}); }

  /// Prefixes and the opcode; the letter of what follows it.
  char opcode() {
    for (;;) {
      opcode_ = next();
      const char kind = kOneByte[opcode_];
      if (kind == 'p') {
        short_ |= opcode_ == 0x66;
        narrow_ |= opcode_ == 0x67;
        rex_ = 0;
      } else if (kind == 'r') {
        rex_ = opcode_;
      } else {
        return kind == 'X' ? escaped() : kind == 'V' || kind == 'E' ? vector(kind) : kind;
      }
      if (at_ > kLongest) return 'x';
    }
  }

  char escaped() {
    two_ = true;
    opcode_ = next();
    if (opcode_ == 0x38) return next(), 'm';
    if (opcode_ == 0x3a) return next(), 'B';
    return kTwoByte[opcode_];
  }

  /// Behind VEX and EVEX: the same maps.
  char vector(char kind) {
    const bool two = opcode_ == 0xc5, three = opcode_ == 0xc4;
    two_ = true;
    const uint8_t first = next();
    const unsigned map = two ? 1 : first & (three ? 0x1f : 0x07);
    at_ += two ? 0 : three ? 1 : 2;
    opcode_ = next();
    short_ = false;
    if (map == 3) return 'B';
    if (map == 2 || (kind == 'E' && (map == 5 || map == 6))) return 'm';
    const char same = map == 1 ? kTwoByte[opcode_] : 'x';
    return same == 'm' || same == 'B' || opcode_ == 0x77 ? same : 'x';
  }

  bool follow(char kind) {
    const size_t z = short_ && !(rex_ & 8) ? 2 : 4;
    switch (kind) {
      case '.':
        break;
      case 'm':
        modrm();
        break;
      case 'b':
        at_ += 1;
        break;
      case 'B':
        modrm(), at_ += 1;
        break;
      case 'z':
        at_ += z;
        break;
      case 'Z':
        if (const unsigned group = modrm(); opcode_ == 0xc7 && group != 0) return false;  // XBEGIN jumps
        at_ += z;
        break;
      case 'w':
        at_ += 2;
        break;
      case 'e':
        at_ += 3;
        break;
      case 'v':
        at_ += rex_ & 8 ? 8 : z;
        break;
      case 'o':
        at_ += narrow_ ? 4 : 8;
        break;
      case 'j':
        branch_size_ = 1, at_ += 1;
        break;
      case 'J':
        branch_size_ = 4, at_ += 4;
        break;
      case 'g':
        at_ += modrm() < 2 ? 1 : 0;
        break;
      case 'G':
        at_ += modrm() < 2 ? z : 0;
        break;
      default:
        return false;
    }
    return !(short_ && branch_size_ == 4);  // processors disagree on these
  }

  /// With SIB and displacement; returns its middle field.
  unsigned modrm() {
    const uint8_t byte = next();
    const unsigned mode = byte >> 6, group = byte >> 3 & 7, base = byte & 7;
    const bool sib = mode != 3 && base == 4;
    const bool no_base = mode == 0 && (base == 5 || (sib && (next() & 7) == 5));
    if (sib && mode != 0) next();
    const bool branches = !two_ && opcode_ == 0xff && group >= 2 && group <= 5;
    if (branches && mode == 0 && base == 5 && !narrow_) {
      pointer_ = true;
      moved_ = at_ + 4 <= bytes_.size() ? uint64_t(number<int32_t>(at_)) : 0;
    }
    at_ += mode == 1 ? 1 : mode == 2 || no_base ? 4 : 0;
    return group;
  }

  template <typename Number>
  int64_t number(size_t at) const {
    Number value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  int64_t branch() const { return branch_size_ == 1 ? number<int8_t>(at_ - 1) : number<int32_t>(at_ - 4); }

  const std::span<const uint8_t> bytes_;
  const uint64_t address_;
  size_t at_ = 0;
  uint8_t opcode_ = 0, rex_ = 0;
  bool short_ = false, narrow_ = false;  // the prefixes 66 and 67
  bool two_ = false;                     // an opcode of another map than the first
  bool pointer_ = false;                 // to the word that says where it leads
  size_t branch_size_ = 0;
  uint64_t moved_ = 0;
};

/// As the library has it.
Shape disassembled(std::span<const uint8_t> bytes, uint64_t address) {
  constexpr size_t kLongest = 15;
  const auto rows = disassemble(bytes.first(std::min(bytes.size(), kLongest)), address, Syntax::kAtt);
  const Instruction& row = rows.front();
  return {row.size, row.target != 0 ? row.target : row.is_call || row.is_jump ? row.pointer : 0};
}

}  // namespace

void for_each_step(std::span<const uint8_t> bytes, uint64_t address,
                   const std::function<void(const CodeStep&)>& use) {
  while (!bytes.empty()) {
    Shape shape = ShapeReader(bytes, address).read();
    if (shape.size == 0) shape = disassembled(bytes, address);
    use({address, shape.target});
    bytes = bytes.subspan(shape.size);
    address += shape.size;
  }
}

}  // namespace varve::symbol
