# SPDX-License-Identifier: MIT
# The linker's version script for exports.list. Names without a version need none: they alone are visible. -v without=SECTION hides
# those of a section.
/^#/ || /^$/ { next }
/^\[/ {
  gsub(/[][]/, "")
  hidden = $1 == without
  version = $2
  next
}
hidden { local = local " " $0 }
!hidden && version { global[version] = global[version] " " $0 }
END {
  for (version in global) printf "%s { global:%s };\n", version, global[version]
  if (local) printf "VARVE { local:%s };\n", local
}
