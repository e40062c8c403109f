#pragma once

namespace rattleback {

/// The version of the library, and the commit of its source.
const char* version();
const char* git_commit();

}  // namespace rattleback
