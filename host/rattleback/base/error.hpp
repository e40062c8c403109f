#pragma once

#include <stdexcept>
#include <string>

namespace rattleback {

/// The only exception type of the library. The command line prints what().
class Error : public std::runtime_error {
 public:
  enum class Kind {
    input,    ///< bad study, bad option, bad initial data: exit code 2
    runtime,  ///< disk full, device lost: exit code 1
  };

  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// A device has too little memory for a tile.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(Kind::runtime, message) {}
};

}  // namespace rattleback
