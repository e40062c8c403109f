#include "rattleback/base/folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"

namespace rattleback {

TemporaryFolder::TemporaryFolder() {
  std::error_code code;
  std::string name = (std::filesystem::temp_directory_path(code) / "rattleback-XXXXXX").string();
  if (code || !mkdtemp(name.data()))
    throw Error(Error::Kind::input,
                fmt::format("cannot make a temporary directory ({}); set TMPDIR to a directory on a disk with space",
                            code ? code.message() : std::strerror(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  std::filesystem::remove_all(path_, code);
}

}  // namespace rattleback
