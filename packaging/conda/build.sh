#!/usr/bin/env bash
# The Python package, which shares HDF5 with the other packages of the environment, then the C++ package and the program, whose file takes the place of
# the command of the Python package.
set -euo pipefail

"$PYTHON" -m pip install . --no-deps --no-build-isolation -vv

# shellcheck disable=SC2086  # CMAKE_ARGS are words
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib -DRATTLEBACK_CUDA=OFF \
  -DRATTLEBACK_TESTS=OFF -DRATTLEBACK_BENCHMARKS=OFF -DRATTLEBACK_PYTHON=OFF
cmake --build build-conda
cmake --install build-conda --prefix "$PREFIX"
