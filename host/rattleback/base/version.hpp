#pragma once

namespace rattleback {

/// Version of the library, and the commit it was built from.
const char* version();
const char* git_commit();

}  // namespace rattleback
