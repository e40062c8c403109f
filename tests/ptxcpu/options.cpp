#include "options.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ptxcpu {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view value, const char* expected) {
  std::fprintf(stderr, "ptxcpu: PTXCPU_%.*s=%.*s: expected %s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(value.size()), value.data(), expected);
  std::_Exit(2);
}

long long number(std::string_view name, std::string_view value, long long least, long long most) {
  long long x = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), x);
  if (error != std::errc{} || end != value.data() + value.size() || x < least || x > most)
    refuse(name, value, ("a number from " + std::to_string(least) + " to " + std::to_string(most)).c_str());
  return x;
}

Options::Failure failure(std::string_view name, std::string_view value) {
  Options::Failure fail;
  const std::size_t colon = value.find(':');
  const std::string_view kind = value.substr(0, colon);
  fail.wanted = fail.lost = kind == "lost";
  for (int i = 0; i < call_kinds; ++i)
    if (kind == call_names[i]) {
      fail.wanted = true;
      fail.kind = static_cast<Call>(i);
    }
  if (!fail.wanted || colon == std::string_view::npos)
    refuse(name, value, "KIND:NUMBER with KIND = launch, malloc, free, copy, synchronise, load or lost");
  fail.number = number(name, value.substr(colon + 1), 1, 1'000'000'000'000);
  return fail;
}

void set(Options& o, std::string_view name, std::string_view value) {
  const auto in = [&](long long least, long long most) { return number(name, value, least, most); };
  const auto flag = [&] { return in(0, 1) != 0; };
  if (name == "RACES") {
    o.races = static_cast<int>(in(0, 2));
  } else if (name == "ORDER") {
    if (value != "forwards" && value != "backwards" && value != "random")
      refuse(name, value, "forwards, backwards or random");
    o.order = value == "forwards" ? Order::forwards : value == "backwards" ? Order::backwards : Order::random;
  } else if (name == "SEED") {
    o.seed = static_cast<std::uint64_t>(in(0, 1'000'000'000'000));
  } else if (name == "DEFER") {
    o.defer = flag();
  } else if (name == "DEVICES") {
    o.devices = static_cast<int>(in(0, 64));
  } else if (name == "MEMORY") {
    o.memory = static_cast<std::size_t>(in(0, 1 << 20)) << 20;
  } else if (name == "ARCHITECTURE") {
    o.architecture = static_cast<int>(in(50, 999));
  } else if (name == "EXCLUSIVE") {
    o.exclusive = flag();
  } else if (name == "FAIL") {
    o.fail = failure(name, value);
  } else if (name == "CALLS") {
    o.calls = value;
  } else if (name == "TRACE") {
    o.trace = flag();
  } else if (name == "ABORT") {
    o.abort = flag();
  } else if (name == "STACK") {
    o.stack = static_cast<std::size_t>(in(64, 1 << 20)) << 10;
  } else if (name == "POISON") {
    o.poison = flag();
  } else if (name == "CENSUS") {
    o.census = value;
  } else if (name == "CACHE") {
    o.cache = value;
  } else if (name != "CXX" && name != "CXXFLAGS" && name != "TIMES" && name != "KEEP" && name != "COUNT") {
    refuse(name, value, "another name: this option is not known");  // those five are the launcher's
  }
}

Options read() {
  Options o;
  constexpr std::string_view prefix = "PTXCPU_";
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(prefix) || equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(prefix.size(), equals - prefix.size()), value = text.substr(equals + 1);
    if (!value.empty()) set(o, name, value);
  }
  return o;
}

}  // namespace

const Options& options() {
  static const Options& all = *new Options(read());  // what runs at exit may still ask
  return all;
}

}  // namespace ptxcpu
