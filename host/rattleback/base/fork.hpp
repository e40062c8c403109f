#pragma once

#include <sys/types.h>

namespace rattleback {

/// fork(), by one thread of the library at a time. Other libraries of a process have handlers that run at a fork (pthread_atfork), and
/// these handlers need not stand two threads: that of OpenBLAS, which NumPy and SciPy have, joins its threads, and two that join one
/// thread wait for ever.
[[nodiscard]] pid_t fork_alone();

}  // namespace rattleback
