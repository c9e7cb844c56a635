// SPDX-License-Identifier: MIT
// The place of a function, which tells functions of one name apart: "libx.so+0x1234" where the address of its
// first byte is known, else "queue.h:12", else its module. A user chooses one by "NAME@PLACE". Context:
// viewer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::analyze {

std::string function_place(const load::Profile& profile, const symbol::SymbolTable& symbols,
                           FunctionId function);

/// "push@libx.so+0x1234": what chooses this function and no other.
std::string name_with_place(const load::Profile& profile, const symbol::SymbolTable& symbols,
                            FunctionId function);

/// Whether a user can mean the function by this place: its own, its module's name, or any address inside it.
bool is_at_place(const load::Profile& profile, const symbol::SymbolTable& symbols, FunctionId function,
                 std::string_view place);

/// By function: whether its full name is a name of another one, too.
std::vector<bool> ambiguous_functions(const symbol::SymbolTable& symbols);

}  // namespace varve::analyze
