#pragma once
// Nodes and trees of the reduction in checkpoints and in files of parts.

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rattleback/base/fnv.hpp"
#include "rattleback/results/checkpoint.hpp"
#include "rattleback/results/sink_data.hpp"
#include "rattleback/study/statistics.hpp"

namespace rattleback {

/// Returns moments as plain numbers.
template <class Node>
std::vector<double> numbers_of(const std::vector<Node>& nodes) {
  static_assert(sizeof(Node) % sizeof(double) == 0 && std::is_trivially_copyable_v<Node>);
  std::vector<double> numbers(nodes.size() * (sizeof(Node) / sizeof(double)));
  if (!nodes.empty()) std::memcpy(numbers.data(), nodes.data(), nodes.size() * sizeof(Node));
  return numbers;
}
template <class Node>
std::vector<Node> objects_of(const std::vector<double>& numbers) {
  std::vector<Node> nodes(numbers.size() / (sizeof(Node) / sizeof(double)));
  if (!nodes.empty()) std::memcpy(static_cast<void*>(nodes.data()), numbers.data(), nodes.size() * sizeof(Node));
  return nodes;
}

/// Writes the chunks of each tree, begin and end, and the nodes that wait in all trees.
template <class Node>
void put_trees(StateWriter& out, const std::string& group, const std::vector<ChunkTree<Node>>& trees) {
  std::vector<std::uint64_t> chunks;
  std::vector<Node> waiting;
  for (const ChunkTree<Node>& tree : trees) {
    chunks.insert(chunks.end(), {tree.begin(), tree.end()});
    waiting.insert(waiting.end(), tree.waiting().begin(), tree.waiting().end());
  }
  out.put(group + "/chunks", chunks);
  out.put(group + "/waiting", numbers_of(waiting));
}
/// Reads as many trees as there are in `trees`. Throws std::out_of_range when the file has other trees.
template <class Node>
void get_trees(const StateReader& in, const std::string& group, std::vector<ChunkTree<Node>>& trees) {
  const std::vector<std::uint64_t> chunks = in.counts(group + "/chunks");
  const std::vector<Node> waiting = objects_of<Node>(in.numbers(group + "/waiting"));
  std::size_t next = 0;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const std::uint64_t begin = chunks.at(2 * i), end = chunks.at(2 * i + 1);
    std::vector<Node> nodes(ChunkTree<Node>::levels_of(begin, end).size());
    for (Node& node : nodes) node = waiting.at(next++);
    trees[i] = ChunkTree<Node>(begin, end, std::move(nodes));
  }
}

/// The group of the state of a reduction in the file of a part.
inline constexpr const char* reduction_group = "/reduction";

/// A digest of the numbers of a state, in the order of writing or reading.
class StateDigest {
 public:
  template <class Number>
  void add(const Number* numbers, std::uint64_t count) {
    static_assert(sizeof(Number) == sizeof(std::uint64_t));
    for (std::uint64_t i = 0; i < count; ++i) hash_.add_word(std::bit_cast<std::uint64_t>(numbers[i]));
  }
  [[nodiscard]] std::uint64_t value() const { return hash_.value; }

 private:
  Fnv1a hash_;
};

/// Writes a state into the file of a part.
class PartStateWriter final : public StateWriter {
 public:
  explicit PartStateWriter(ResultSink& sink) : sink_(sink) {}
  void put(const std::string& path, const std::vector<double>& values) override {
    const Canonical numbers(ResultSink::Type::f64, values.data(), values.size());
    digest_.add(static_cast<const double*>(numbers.data()), values.size());
    put(path, ResultSink::Type::f64, values.size(), values.data());
  }
  void put(const std::string& path, const std::vector<std::uint64_t>& values) override {
    digest_.add(values.data(), values.size());
    put(path, ResultSink::Type::u64, values.size(), values.data());
  }
  [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }

 private:
  void put(const std::string& path, ResultSink::Type type, std::uint64_t size, const void* data) {
    sink_.create(reduction_group + path, type, {size});
    sink_.write(reduction_group + path, {0}, {size}, data);
  }

  ResultSink& sink_;
  StateDigest digest_;
};

/// Reads a state from the file of a part. The numbers of a state that is no part's are missing: std::bad_variant_access, or
/// Error(input).
class PartStateReader final : public StateReader {
 public:
  explicit PartStateReader(const ResultFile& file) : file_(file) {}
  [[nodiscard]] std::vector<double> numbers(const std::string& path) const override {
    auto values = std::get<std::vector<double>>(file_.read(reduction_group + path).values);
    digest_.add(values.data(), values.size());
    return values;
  }
  [[nodiscard]] std::vector<std::uint64_t> counts(const std::string& path) const override {
    auto values = std::get<std::vector<std::uint64_t>>(file_.read(reduction_group + path).values);
    digest_.add(values.data(), values.size());
    return values;
  }
  [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }

 private:
  const ResultFile& file_;
  mutable StateDigest digest_;
};

}  // namespace rattleback
