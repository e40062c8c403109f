#include "rattleback/study/machine_parts.hpp"

#include <cmath>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/language/expression.hpp"

namespace rattleback {

Num3 Part::local_direction(const Num3& direction) const {
  Num3 result{};
  for (std::size_t i = 0; i < 3; ++i)
    result[i] = turn[0][i] * direction[0] + turn[1][i] * direction[1] + turn[2][i] * direction[2];
  const double size = std::sqrt(dot(direction, direction));
  for (double& x : result)
    if (std::abs(x) < 4e-16 * size) x = 0.0;
  return result;
}

Num3 Part::local(const Num3& place) const {
  return local_direction({place[0] - start[0], place[1] - start[1], place[2] - start[2]});
}

Num3 Part::at_start(const Num3& point) const {
  return {start[0] + dot(turn[0], point), start[1] + dot(turn[1], point), start[2] + dot(turn[2], point)};
}

void StartValues::add(const std::string& name, double value) {
  names_.push_back(name);
  values_.push_back(value);
}

double StartValues::operator()(const Value& value, const std::string& key) const {
  return Expression(value, key, names_, values_.data(), "; a start is made of numbers and parameters")();
}

void StartValues::check(const Value& value, const std::string& key, std::span<const std::string> more) const {
  std::vector<std::string> names = names_;
  names.insert(names.end(), more.begin(), more.end());
  const std::vector<double> slots(names.size());
  (void)Expression(value, key, names, slots.data());
}

Term StartValues::term(const Value& value, const std::string& key) const {
  if (const auto* number = std::get_if<double>(&value.content)) return *number;
  if (variables_of(value).empty()) return constant(value, key);
  return Term(std::get<std::string>(value.content), true);
}

Vec Machine::vector(const std::vector<Value>& values, const std::string& key, const std::string& where) const {
  if (values.size() != size())
    input_error(where, fmt::format("{} has {} numbers, and {} are needed ({})", key, values.size(), size(),
                                   planar ? "the bodies move in the plane, as their one moment of inertia says"
                                          : "the bodies move in space"));
  Vec result;
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = numbers.term(values[i], fmt::format("{}[{}]", key, i));
  return result;
}

Num3 Machine::start_vector(const std::vector<Value>& values, const std::string& key, const std::string& where) const {
  (void)vector(values, key, where);
  Num3 result{};
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = numbers(values[i], fmt::format("{}[{}]", key, i));
  return result;
}

}  // namespace rattleback
