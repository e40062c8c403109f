#include "rattleback/study/text_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <string_view>

#include "rattleback/base/message.hpp"
#include "rattleback/base/probe.hpp"

namespace rattleback {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

/// Returns a field without the quotes around it.
std::string_view unquoted(std::string_view field) {
  if (field.size() >= 2 && (field.front() == '"' || field.front() == '\'') && field.back() == field.front())
    field = trim(field.substr(1, field.size() - 2));
  return field;
}

/// Returns the character that separates the fields of a line; a blank stands for any number of blanks and tabs.
char separator_of(std::string_view line) {
  for (const char separator : {';', ',', '\t'})
    if (line.find(separator) != std::string_view::npos) return separator;
  return ' ';
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  const std::string_view ends = separator == ' ' ? " \t" : std::string_view(&separator, 1);
  std::vector<std::string_view> fields;
  for (;;) {
    const auto end = line.find_first_of(ends);
    fields.push_back(unquoted(trim(line.substr(0, end))));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
    if (separator == ' ') line = trim(line);
  }
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::string fortran;
  const auto is_d = [](char c) { return c == 'd' || c == 'D'; };
  if (const auto d = std::ranges::find_if(text, is_d); d != text.end() && d != text.begin()) {
    fortran.assign(text);
    fortran[static_cast<std::size_t>(d - text.begin())] = 'e';
    text = fortran;
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_row_of_numbers(std::string_view line) {
  return std::ranges::all_of(split(line, separator_of(line)),
                             [](std::string_view field) { return parse_number(field).has_value(); });
}

class TextReader {
 public:
  TextReader(const PointSource& source, const StateNames& names)
      : file_(source.file.string()),
        where_(source.where),
        wanted_(source.rows),
        names_(names),
        buffer_(std::size_t{1} << 20, '\0') {
    std::string why = why_unreadable(source.file);
    stream_.open(source.file, std::ios::binary);
    if (why.empty() && !stream_) why = std::strerror(errno);
    if (!why.empty()) input_error(where_, fmt::format("{} cannot be read ({})", quote(file_, most_of_a_path), why));
  }

  PointFile read() {
    if (!next_line()) fail("no header (the first line that is no comment names the columns)");
    const bool headless = is_row_of_numbers(line_);
    read_header(headless);
    try {
      for (bool more = headless || next_line(); more; more = next_line(), ++points_.total)
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
  [[noreturn]] void fail(std::string_view message) const { fail(message, number_); }
  [[noreturn]] void fail(std::string_view message, std::uint64_t line) const {
    input_error(fmt::format("{}:{}", file_, line), message);
  }

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
      if (number_ == 1 && (line_.starts_with("\xff\xfe") || line_.starts_with("\xfe\xff")))
        fail("the text is in UTF-16; save it in UTF-8");
      line_ = trim(line_);
      if (!line_.empty() && line_.front() != '#') return true;
      if (line_.empty() || !header_.empty()) continue;
      comment_ = trim(line_.substr(std::min(line_.find_first_not_of('#'), line_.size())));
      comment_number_ = number_;
    }
    return false;
  }

  /// Reads the names of the columns from the present line or, where that line has numbers, from the comment before it.
  void read_header(bool headless) {
    constexpr std::size_t most = 10'000;
    const std::string_view line = headless ? std::string_view(comment_) : line_;
    const std::uint64_t number = headless ? comment_number_ : number_;
    const auto columns = split(line, separator_of(line));
    if (headless && (columns.size() != split(line_, separator_of(line_)).size() || is_row_of_numbers(line)))
      fail(fmt::format(
          "no header (the line has {} numbers, and no line before it names as many columns); add a line of names",
          split(line_, separator_of(line_)).size()));
    if (columns.size() > most)
      fail(fmt::format("the header names {} columns; at most {} can be read", columns.size(), most), number);
    for (const std::string_view name : columns) {
      // pandas writes the index of its rows first, without a name, and reads it back by this one.
      const bool index = header_.empty() && columns.size() > 1 && (name.empty() || name == "Unnamed: 0");
      if (name.empty() && !index)
        fail(fmt::format("column {} of the header has no name; name it, or remove the separator", header_.size() + 1),
             number);
      if (std::ranges::find(header_, name) != header_.end())
        fail(fmt::format("column {} appears twice", quote(name)), number);
      header_.emplace_back(name);
      has_index_ = has_index_ || index;
    }
    targets_ = state_columns(header_, names_, [&](const std::string& message) { fail(message, number); });
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (targets_[i]) {
        ++points_.block(targets_[i]->part).width;
      } else if (!is_left_out(i)) {
        points_.names.push_back(header_[i]);
      }
    }
    table_.resize(header_.size());
  }

  /// Returns whether a column is no part of the table.
  [[nodiscard]] bool is_left_out(std::size_t column) const {
    return (column == 0 && has_index_) || names_.ignored.contains(header_[column]);
  }

  void read_row() {
    if (separator_ == '\0') separator_ = separator_of(line_);
    const auto fields = split(line_, separator_);
    if (fields.size() != header_.size()) {
      fail(fmt::format("{} values where the header names {} columns", fields.size(), header_.size()));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (is_left_out(i)) continue;
      const auto value = parse_number(fields[i]);
      if (!value)
        fail(fmt::format("{} in column '{}' is not a number{}", quote(fields[i]), header_[i],
                         fields[i].find(',') != std::string_view::npos ? "; write a decimal point" : ""));
      if (!std::isfinite(*value) && names_.in_condition.empty())
        fail(fmt::format("{} in column '{}' is not finite", quote(fields[i]), header_[i]));
      table_[i].push_back(*value);
    }
    if (static_cast<double>(++kept_ * header_.size() * sizeof(double)) > memory_) too_large();
  }

  /// Moves a column of the table into the state or into the named columns.
  void place(std::size_t column) {
    if (is_left_out(column)) return;
    if (!targets_[column]) {
      points_.columns.push_back(std::move(table_[column]));
      return;
    }
    auto& [width, values, borrowed] = points_.block(targets_[column]->part);
    values.resize(width * points_.rows());
    for (std::uint64_t row = 0; row < points_.rows(); ++row)
      values[row * width + targets_[column]->index] = table_[column][row];
  }

  std::string file_, where_;
  Range wanted_;
  const StateNames& names_;
  std::ifstream stream_;
  double memory_ = memory_bytes();
  std::string buffer_, comment_;  ///< a line; the last comment before the header
  std::string_view line_;
  std::uint64_t number_ = 0, comment_number_ = 0, kept_ = 0;
  char separator_ = '\0';   ///< of the rows
  bool has_index_ = false;  ///< the first column numbers the rows
  std::vector<std::string> header_;
  std::vector<std::optional<StateColumn>> targets_;
  std::vector<std::vector<double>> table_;  ///< by column
  PointFile points_;
};

}  // namespace

PointFile read_text_points(const PointSource& source, const StateNames& names) {
  return TextReader(source, names).read();
}

}  // namespace rattleback
