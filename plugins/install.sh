#!/usr/bin/env bash
# Installs libpagecast, pagecast.h and what pkg-config and CMake find them by into PREFIX, and the SimGrid plug-in where SimGrid is
# installed: `make install PREFIX=...`. DESTDIR stands before it, for packagers. PROFILE=dev installs the debug build, for tests.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${PREFIX:?say where: make install PREFIX=/usr/local}
to=${DESTDIR:-}$prefix
profile=${PROFILE:-release}
case $prefix in /*) ;; *) echo "PREFIX is an absolute path, not $prefix" >&2; exit 2 ;; esac

# shellcheck disable=SC2086 # flags are words
cargo build --quiet ${CARGO_FLAGS:-} --profile "$profile" --package pagecast-capi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
abi=$(sed -n 's/^#define PAGECAST_ABI_VERSION //p' crates/pagecast-capi/include/pagecast.h)
built=target/$([ "$profile" = dev ] && echo debug || echo "$profile")

install -d "$to/lib/pkgconfig" "$to/include"
install -m 644 crates/pagecast-capi/include/pagecast.h "$to/include/"
install -m 755 "$built/libpagecast.so" "$to/lib/libpagecast.so.$abi"
[ "$profile" = dev ] || strip --strip-unneeded "$to/lib/libpagecast.so.$abi" 2>/dev/null || true
ln -sf "libpagecast.so.$abi" "$to/lib/libpagecast.so"
cat > "$to/lib/pkgconfig/pagecast.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: pagecast
Description: The Linux page cache of one host, for simulators
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lpagecast
END
install -d "$to/lib/cmake/pagecast"
for file in pagecastConfig.cmake pagecastConfigVersion.cmake; do
    sed -e "s/@ABI@/$abi/" -e "s/@VERSION@/$version/" "crates/pagecast-capi/cmake/$file.in" > "$to/lib/cmake/pagecast/$file"
done
echo "installed libpagecast $version (interface $abi) into $to"

if ! command -v cmake >/dev/null || ! pkg-config --atleast-version=3.32 simgrid 2>/dev/null; then
    echo 'left out: the SimGrid plug-in, which needs CMake and SimGrid 3.32 or later (Debian: cmake, libsimgrid-dev)'
    exit 0
fi
cmake -S plugins/simgrid -B target/simgrid-install -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DPAGECAST_BUILD="$PWD/$built" -DPAGECAST_PROGRAMS=OFF >/dev/null
cmake --build target/simgrid-install --parallel 2 >/dev/null
DESTDIR=${DESTDIR:-} cmake --install target/simgrid-install >/dev/null
echo "installed libpagecast-simgrid $version into $to"
