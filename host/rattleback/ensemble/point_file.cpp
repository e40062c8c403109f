#include "rattleback/ensemble/point_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <string_view>

#include "rattleback/base/message.hpp"
#include "rattleback/files/hdf5.hpp"
#include "rattleback/files/probe.hpp"

namespace rattleback {
namespace {

PointFile::Block* block(PointFile& points, std::string_view name) {
  if (name == "q") return &points.q;
  if (name == "v") return &points.v;
  if (name == "p") return &points.p;
  if (name == "lambda") return &points.lambda;
  return nullptr;
}

/// Returns those of the rows that a file of `total` rows has besides row 0.
Range rows_of(const Range& rows, std::uint64_t total) {
  const std::uint64_t first = std::clamp<std::uint64_t>(rows.first, 1, std::max<std::uint64_t>(total, 1));
  return {first, std::clamp(rows.last, first, std::max(total, first))};
}

/// Returns the machine's memory in bytes.
double memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// CSV

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A column of the state, named q[2] or q2.
struct StateColumn {
  PointFile::Block* block;
  std::uint64_t index;
};

std::optional<StateColumn> state_column(PointFile& points, std::string_view name) {
  const auto letters = std::ranges::find_if(name, [](unsigned char c) { return std::isalpha(c) == 0; }) - name.begin();
  PointFile::Block* const target = block(points, name.substr(0, static_cast<std::size_t>(letters)));
  std::string_view digits = name.substr(static_cast<std::size_t>(letters));
  if (digits.starts_with('[') && digits.ends_with(']')) digits = digits.substr(1, digits.size() - 2);
  if (target == nullptr || digits.empty() ||
      !std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c); }))
    return std::nullopt;
  const auto index = parse_number<std::uint64_t>(digits);
  return index ? std::optional(StateColumn{target, *index}) : std::nullopt;
}

class CsvReader {
 public:
  CsvReader(const std::filesystem::path& file, const std::string& where, const Range& rows)
      : file_(file.string()), where_(where), wanted_(rows), buffer_(std::size_t{1} << 20, '\0') {
    std::string why = why_unreadable(file);
    stream_.open(file, std::ios::binary);
    if (why.empty() && !stream_) why = std::strerror(errno);
    if (!why.empty()) input_error(where, fmt::format("{} cannot be read ({})", quote(file_, most_of_a_path), why));
  }

  PointFile read() {
    if (!next_line()) fail("no header (the first line that is no comment names the columns)");
    read_header();
    try {
      for (; next_line(); ++points_.total)
        if (points_.total == 0 || (points_.total >= wanted_.first && points_.total < wanted_.last)) read_row();
      points_.range = rows_of(wanted_, points_.total);
      for (std::size_t i = 0; i < targets_.size() && points_.total != 0; ++i) place(i);
    } catch (const std::bad_alloc&) {
      too_large();
    }
    if (stream_.bad()) fail(fmt::format("cannot be read further ({})", std::strerror(errno)));
    if (points_.total == 0) fail("no rows after the header");
    return std::move(points_);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const { input_error(fmt::format("{}:{}", file_, number_), message); }

  [[noreturn]] void too_large() {
    table_.clear();
    input_error(where_, fmt::format("{} needs more memory than there is ({} rows of {} numbers, and more); take fewer "
                                    "rows",
                                    quote(file_, most_of_a_path), points_.total, header_.size()));
  }

  /// Reads the next line that is neither blank nor a comment.
  bool next_line() {
    while (stream_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size())) || stream_.gcount() > 0) {
      ++number_;
      const auto size = static_cast<std::size_t>(stream_.gcount());
      if (stream_.fail()) fail(fmt::format("has a line of more than {} bytes; is it a CSV file?", buffer_.size() - 1));
      line_ = std::string_view(buffer_).substr(0, stream_.eof() ? size : size - 1);
      constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
      if (number_ == 1 && line_.starts_with(byte_order_mark)) line_.remove_prefix(byte_order_mark.size());
      line_ = trim(line_);
      if (!line_.empty() && line_.front() != '#') return true;
    }
    return false;
  }

  void read_header() {
    constexpr std::size_t most = 10'000;
    if (const auto columns = std::ranges::count(line_, ',') + 1; columns > static_cast<std::ptrdiff_t>(most)) {
      fail(fmt::format("the header names {} columns; at most {} can be read", columns, most));
    }
    for (const std::string_view name : split(line_)) {
      if (std::ranges::find(header_, name) != header_.end()) fail(fmt::format("column {} appears twice", quote(name)));
      header_.emplace_back(name);
      targets_.push_back(state_column(points_, name));
      if (!targets_.back()) points_.names.emplace_back(name);
    }
    table_.resize(header_.size());
    for (const auto& target : targets_) {
      if (target) ++target->block->width;
    }
    // Every index must be below the width and occur once. Then no index is missing.
    std::vector<std::pair<PointFile::Block*, std::uint64_t>> seen;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (!targets_[i]) continue;
      const std::pair key(targets_[i]->block, targets_[i]->index);
      if (key.second >= key.first->width) {
        fail(fmt::format("column {} is out of sequence (indices go from 0 without a gap)", quote(header_[i])));
      }
      if (std::ranges::find(seen, key) != seen.end()) fail(fmt::format("column {} appears twice", quote(header_[i])));
      seen.push_back(key);
    }
  }

  void read_row() {
    const auto fields = split(line_);
    if (fields.size() != header_.size()) {
      fail(fmt::format("{} values where the header names {} columns", fields.size(), header_.size()));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto value = parse_number<double>(fields[i]);
      if (!value) fail(fmt::format("{} in column '{}' is not a number", quote(fields[i]), header_[i]));
      if (!std::isfinite(*value)) fail(fmt::format("{} in column '{}' is not finite", quote(fields[i]), header_[i]));
      table_[i].push_back(*value);
    }
    if (static_cast<double>(table_[0].size() * header_.size() * sizeof(double)) > memory_) too_large();
  }

  /// Moves a column of the table into the state or into the named columns.
  void place(std::size_t column) {
    if (!targets_[column]) {
      points_.columns.push_back(std::move(table_[column]));
      return;
    }
    auto& [width, values, borrowed] = *targets_[column]->block;
    values.resize(width * points_.rows());
    for (std::uint64_t row = 0; row < points_.rows(); ++row) {
      values[row * width + targets_[column]->index] = table_[column][row];
    }
  }

  std::string file_, where_;
  Range wanted_;
  std::ifstream stream_;
  double memory_ = memory_bytes();
  std::string buffer_;
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::vector<std::string> header_;
  std::vector<std::optional<StateColumn>> targets_;
  std::vector<std::vector<double>> table_;  ///< by column
  PointFile points_;
};

// HDF5

using hdf5::Handle;

class Hdf5Reader {
 public:
  Hdf5Reader(const std::filesystem::path& file, const std::string& group, const std::string& where, const Range& rows)
      : file_(file), where_(where), group_(group), wanted_(rows) {}

  /// Reads the file in a child process first, because HDF5 may crash.
  PointFile operator()() {
    const auto use = hdf5::lock();
    hdf5::silence_errors();
    if (const std::string why = why_unreadable(file_); !why.empty()) fail(fmt::format("cannot be read ({})", why));
    if (!comes_back(file_, [this] { (void)read(); })) fail("cannot be read (damaged: HDF5 crashes over it)");
    return read();
  }

 private:
  void open() {
    handle_ = hdf5::open_for_reading(file_);
    if (!handle_) fail("cannot be read (not an HDF5 file)");
    if (const std::string link = hdf5::link_out(handle_); !link.empty())
      fail(fmt::format("cannot be read ({} is a link to another file, which is not followed)", quote(link)));
    if (group_.empty()) group_ = !has("q") && has("initial") ? "/initial" : "/";
    location_ = Handle(H5Gopen2(handle_.get(), group_.c_str(), H5P_DEFAULT), H5Gclose);
    if (!location_) fail(fmt::format("has no group {}", quote(group_)));
  }

  PointFile read() {
    open();
    for (const std::string& name : links()) read_dataset(name);
    if (!any_) fail(fmt::format("has no dataset of states in group '{}' (q, v, p, lambda or columns)", group_));
    if (points_.total == 0) fail(fmt::format("has no rows in group '{}'", group_));
    return std::move(points_);
  }

  [[noreturn]] void fail(std::string_view message) const {
    input_error(where_, fmt::format("{} {}", quote(file_.string(), most_of_a_path), message));
  }

  bool has(const char* name) const { return H5Lexists(handle_.get(), name, H5P_DEFAULT) > 0; }

  /// Returns the names of all links in alphabetical order.
  std::vector<std::string> links() const {
    std::vector<std::string> names;
    const herr_t listed = H5Literate(
        location_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
        [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
          static_cast<std::vector<std::string>*>(out)->emplace_back(name);
          return 0;
        },
        &names);
    if (listed < 0) fail(fmt::format("cannot be read (the list of datasets of group '{}' is damaged)", group_));
    return names;
  }

  void read_dataset(const std::string& name) {
    const Handle object(H5Oopen(location_.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) fail(fmt::format("cannot be read ('{}' of group '{}' cannot be opened)", name, group_));
    if (H5Iget_type(object.get()) != H5I_DATASET) return;
    const auto shape = hdf5::shape_of(object);
    PointFile::Block* const state = block(points_, name);
    if (!shape || (shape->size() != 1 && !(shape->size() == 2 && state != nullptr))) {
      if (state == nullptr) return;
      fail(fmt::format("dataset {} has {} dimensions (needs [N, .])", quote(name), shape ? shape->size() : 0));
    }
    const std::uint64_t rows = shape->front(), width = shape->size() == 2 ? shape->back() : 1;
    if (any_ && rows != points_.total) {
      fail(fmt::format("dataset {} has {} rows where others have {}", quote(name), rows, points_.total));
    }
    any_ = true;
    points_.total = rows;
    points_.range = rows_of(wanted_, rows);
    std::vector<double> values = numbers(name, object, *shape);
    if (state == nullptr) {
      points_.names.push_back(name);
      points_.columns.push_back(std::move(values));
      return;
    }
    const auto bad = std::ranges::find_if_not(values, [](double x) { return std::isfinite(x); });
    if (bad != values.end()) {
      fail(fmt::format("dataset {} is not finite in row {}", quote(name),
                       points_.row_at(static_cast<std::uint64_t>(bad - values.begin()) / width)));
    }
    *state = {width, std::move(values), nullptr};
  }

  std::vector<double> numbers(const std::string& name, const Handle& dataset,
                              const std::vector<std::uint64_t>& shape) const {
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.get());
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) fail(fmt::format("dataset {} does not hold numbers", quote(name)));
    std::error_code code;
    if (!hdf5::is_complete(dataset, std::filesystem::file_size(file_, code))) {
      fail(fmt::format("declares [{}] numbers in dataset {} and does not hold them (cut off, damaged or not written)",
                       fmt::join(shape, ", "), quote(name)));
    }
    // Compressed numbers take less space in the file than in memory.
    if (shape[0] == 0) return {};
    std::vector<hsize_t> size(shape.begin(), shape.end());
    size[0] = points_.rows();
    double count = 1;
    for (const hsize_t n : size) count *= static_cast<double>(n);
    const auto too_large = [&] {
      fail(fmt::format("needs {:.3g} GiB of memory for dataset {}, which are not there; take fewer rows",
                       count * sizeof(double) / 0x1p30, quote(name)));
    };
    if (count * sizeof(double) > memory_bytes()) too_large();
    std::vector<double> values;
    try {
      values.resize(static_cast<std::size_t>(count));
    } catch (const std::bad_alloc&) {
      too_large();
    }
    if (values.empty()) return values;
    const Handle space(H5Dget_space(dataset.get()), H5Sclose);
    const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
    H5Sselect_none(space.get());
    const auto select = [&](std::uint64_t first, std::uint64_t rows) {
      std::vector<hsize_t> start(size.size(), 0), extent = size;
      start[0] = first;
      extent[0] = rows;
      return rows == 0 ||
             H5Sselect_hyperslab(space.get(), H5S_SELECT_OR, start.data(), nullptr, extent.data(), nullptr) >= 0;
    };
    if (!select(0, 1) || !select(points_.range.first, points_.range.count()) ||
        H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0) {
      fail(fmt::format("dataset {} cannot be read (damaged file?)", quote(name)));
    }
    return values;
  }

  std::filesystem::path file_;
  std::string where_, group_;
  Range wanted_;
  Handle handle_, location_;
  bool any_ = false;
  PointFile points_;
};

}  // namespace

bool is_hdf5_name(const std::filesystem::path& file) {
  return file.extension() == ".h5" || file.extension() == ".hdf5";
}

PointFile points_of(const StateTable& table, const Range& rows) {
  PointFile points;
  points.total = table.rows;
  points.range = rows_of(rows, table.rows);
  const auto check = [&](std::string_view name, const double* values, std::uint64_t width) {
    const double* const end = values + table.rows * width;
    const double* const bad = std::find_if_not(values, end, [](double x) { return std::isfinite(x); });
    if (bad == end) return;
    input_error("", fmt::format("the array {} of initial states is not finite in row {} (got {}); correct this row",
                                name, static_cast<std::uint64_t>(bad - values) / width, *bad));
  };
  for (const auto& [name, given] : {std::pair<const char*, const StateTable::Block*>{"q", &table.q},
                                    {"v", &table.v},
                                    {"p", &table.p},
                                    {"lambda", &table.lambda}}) {
    if (given->width == 0) continue;
    check(name, given->values, given->width);
    PointFile::Block& target = *block(points, name);
    target.width = given->width;
    target.borrowed = given->values;
  }
  for (const auto& [name, values] : table.columns) {
    points.names.push_back(name);
    points.borrowed_columns.push_back(values);
  }
  return points;
}

PointFile read_points(const std::filesystem::path& file, const std::string& group, const std::string& where,
                      const Range& rows) {
  if (is_hdf5_name(file)) return Hdf5Reader(file, group, where, rows)();
  if (file.extension() == ".csv") return CsvReader(file, where, rows).read();
  input_error(where,
              fmt::format("{} has an unknown format (known: .csv, .h5, .hdf5)", quote(file.string(), most_of_a_path)));
}

}  // namespace rattleback
