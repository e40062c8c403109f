#!/usr/bin/env bash
# Installs a build of the project, builds examples/cpp and the project of docs/learn/cpp.md against the installed package, and
# runs the programs.
#   package_test.sh BUILD_DIRECTORY SCRATCH_DIRECTORY
set -euo pipefail

if (($# != 2)); then
  echo "usage: package_test.sh BUILD_DIRECTORY SCRATCH_DIRECTORY" >&2
  exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
scratch=$(cd "$2" && pwd)
prefix=$scratch/prefix
rm -rf "$prefix" "$scratch/build"

cmake --install "$build" --prefix "$prefix" > "$scratch/install.log"
"$prefix/bin/rattleback" --version
for file in man/man1/rattleback.1 bash-completion/completions/rattleback zsh/site-functions/_rattleback \
  fish/vendor_completions.d/rattleback.fish; do
  test -s "$prefix/share/$file"
done
"$prefix/bin/rattleback" completion fish | cmp - "$prefix/share/fish/vendor_completions.d/rattleback.fish"
"$prefix/bin/rattleback" man | cmp - "$prefix/share/man/man1/rattleback.1"

# Nothing that is installed names a folder of the build or of the sources, which may be gone or anybody's later.
if [[ $(sed -n 's/^CMAKE_BUILD_TYPE:STRING=//p' "$build/CMakeCache.txt") == Release ]]; then
  if grep -rlaF -e "$root" -e "$build" "$prefix" "$build/rattleback" "$build"/librattleback*.a; then
    echo "package_test.sh: these files name $root or $build" >&2
    exit 1
  fi
  for object in "$prefix/bin/rattleback" "$prefix"/lib*/rattleback/*.so; do
    if [[ -e $object ]] && readelf -d "$object" | grep -E 'R(UN)?PATH'; then
      echo "package_test.sh: $object looks for libraries in these folders" >&2
      exit 1
    fi
  done
fi

flags=$(sed -n 's/^CMAKE_CXX_FLAGS:STRING=//p' "$build/CMakeCache.txt")  # a sanitizer, say
cmake -S "$root/examples/cpp" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags"
cmake --build "$scratch/build" --target compare_results user_system
rm -rf "$scratch/alone"
mkdir "$scratch/alone"
sed -n '/^```cmake$/,/^```$/{/^```/d;p}' "$root/docs/learn/cpp.md" > "$scratch/alone/CMakeLists.txt"
cp "$root/examples/cpp/run_study.cpp" "$scratch/alone"
cmake -S "$scratch/alone" -B "$scratch/alone/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags"
cmake --build "$scratch/alone/build"

# A machine without a compiler takes kernels beside the program.
libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:PATH=//p' "$build/CMakeCache.txt")
"$prefix/bin/rattleback" compile --catalogue '^henon_heiles__lobatto_s2$' --isa scalar --pack "$prefix/$libdir/rattleback/kernels"
run=("$prefix/bin/rattleback" run "$root/examples/henon-heiles.toml" --set method.stages=2 --set time.steps=20
     --set time.sample_every=10 --backend cpu:scalar --quiet)
"${run[@]}" -o "$scratch/compiled.h5"
env PATH=/nonexistent RATTLEBACK_CXX=/nonexistent XDG_CACHE_HOME="$scratch/no-cache" "${run[@]}" --kernels builtin -o "$scratch/builtin.h5"
"$prefix/bin/rattleback" diff "$scratch/compiled.h5" "$scratch/builtin.h5"
test ! -e "$scratch/no-cache"

"$scratch/alone/build/run_study" "$root/examples/chaotic.toml" "$scratch/run_study.h5"
test -s "$scratch/run_study.h5"
"$scratch/build/compare_results" "$scratch/run_study.h5" "$scratch/run_study.h5"
"$prefix/bin/rattleback" plot "$scratch/run_study.h5" -o "$scratch/run_study.svg"
test -s "$scratch/run_study.svg"
"$prefix/bin/rattleback" report "$scratch/run_study.h5" -o "$scratch/run_study.html"
grep -q '<figure><img' "$scratch/run_study.html"
"$scratch/build/user_system"
