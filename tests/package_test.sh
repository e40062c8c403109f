#!/usr/bin/env bash
# Installs a build of the project, builds examples/cpp against the installed package, and runs both programs.
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

flags=$(sed -n 's/^CMAKE_CXX_FLAGS:STRING=//p' "$build/CMakeCache.txt")  # a sanitizer, say
cmake -S "$root/examples/cpp" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags"
cmake --build "$scratch/build"

"$scratch/build/run_study" "$root/examples/chaotic.toml" "$scratch/run_study.h5"
test -s "$scratch/run_study.h5"
"$prefix/bin/rattleback" plot "$scratch/run_study.h5" -o "$scratch/run_study.svg"
test -s "$scratch/run_study.svg"
"$scratch/build/user_system"
