// SPDX-License-Identifier: MIT
// ELF files that nobody's linker makes: what reading one may cost is a multiple of its size, so a size that
// is a claim, and sections that overlap, are refused. Context: tests.
#include <criterion/criterion.h>
#include <elf.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "test/unit/symbol_tools.h"
#include "viewer/symbol/elf_file.h"

using namespace varve;
using namespace varve::test;

namespace {

constexpr size_t kElfBytes = 1 << 20;

/// So many sections of so many bytes each, all of them at the same place.
std::vector<uint8_t> with_sections(size_t count, uint64_t bytes_of_each) {
  std::vector<uint8_t> image(kElfBytes);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = Elf64_Half(count + 1);
  std::memcpy(image.data(), &header, sizeof header);
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_size = bytes_of_each;
  for (size_t i = 1; i <= count; ++i)
    std::memcpy(image.data() + sizeof header + i * sizeof section, &section, sizeof section);
  return image;
}

std::string error_of(std::vector<uint8_t> image) {
  auto file = symbol::ElfFile::from_memory(std::move(image));
  return file ? "" : file.error();
}

}  // namespace

Test(elf_file, sections_that_no_linker_makes_are_refused) {
  cr_expect_eq(error_of(with_sections(60, kElfBytes / 40)), "");
  cr_expect_eq(error_of(with_sections(60, kElfBytes / 20)), "has sections that no linker makes");
  cr_expect_eq(error_of(with_sections(60, UINT64_MAX / 30)), "has sections that no linker makes",
               "their sum is little");
  cr_expect_eq(error_of(with_sections(4000, 0)), "");
  cr_expect_eq(error_of(with_sections(5000, 0)), "has sections that no linker makes");
}

Test(elf_file, a_size_that_is_a_claim_is_refused) {
  ScratchDirectory scratch;
  const std::string path = scratch.path("program");
  shell("cp /bin/true '" + path + "'");
  cr_expect(symbol::ElfFile::open(path).has_value());
  cr_assert_eq(truncate(path.c_str(), off_t{1} << 40), 0);
  auto file = symbol::ElfFile::open(path);
  cr_assert_not(file.has_value());
  cr_expect_eq(file.error(), "is mostly holes");
}
