#include "rattleback/base/version.hpp"

namespace rattleback {

const char* version() { return RATTLEBACK_VERSION; }
const char* git_commit() { return RATTLEBACK_GIT; }

}  // namespace rattleback
