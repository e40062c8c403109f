#include "rattleback/language/rolled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace rattleback {
namespace {

/// Statements that are alike become a loop from this number on.
constexpr std::size_t least_of_a_loop = 4;

/// A place of a statement where those that are alike differ.
struct Slot {
  enum class Kind { value, index, number } kind;
  int value = 0;       ///< of a value its place in the list of all values; the index
  std::string number;  ///< as C++
};

/// A statement: its text with $ in place of the slots.
struct Step {
  std::string shape;
  std::vector<Slot> slots;
  std::vector<int> stores, needs;  ///< values
};

/// Steps that are alike, in an order in which they can be taken.
using Group = std::vector<int>;

/// A loop: in each pass all of its bodies are taken in turn. `bodies[b][k]` is the step of body b in pass k.
struct Loop {
  std::vector<Group> bodies;
  [[nodiscard]] std::size_t passes() const { return bodies.front().size(); }
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Roller {
 public:
  std::vector<std::string> operator()(const std::vector<std::string>& statements) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      std::string text = statements[i];
      if (text.starts_with("const T ")) {
        lines_.push_back(text);
      } else if (text.starts_with("T ")) {  // T s0, c0;
        const std::size_t comma = text.find(',');
        of_parameters_.insert({text.substr(2, comma - 2), text.substr(comma + 2, text.size() - comma - 3)});
        lines_.insert(lines_.end(), {text, statements[++i]});
      } else if (text.starts_with("S s")) {
        read(statements[++i]);
      } else {
        read(text);
      }
    }
    order();
    place();
    for (const Loop& loop : loops_) write(loop);
    if (stored_ > 0) lines_.insert(lines_.begin(), fmt::format("S w[{}];", stored_));
    return lines_;
  }

 private:
  /// Reads a statement: the names t0, s1, c1 of values of the type S, numbers in brackets, and constants.
  void read(const std::string& text) {
    Step step;
    const bool sincos = text.starts_with("sincos(");
    std::string_view rest = text;
    if (rest.starts_with("const S ")) rest.remove_prefix(8);
    for (std::size_t i = 0; i < rest.size();) {
      std::size_t end = i + 1;
      while (end < rest.size() && is_word(rest[i]) && is_word(rest[end])) ++end;
      const std::string word(rest.substr(i, end - i));
      const bool before = i > 0 && rest[i - 1] == '[';
      if (before && std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
        step.slots.push_back({Slot::Kind::index, std::stoi(word), ""});
        step.shape += '$';
      } else if ((word == "S" || word == "T") && end < rest.size() && rest[end] == '(' && closes(rest, end) != end) {
        const std::size_t close = closes(rest, end);
        step.slots.push_back({Slot::Kind::number, 0, std::string(rest.substr(end + 1, close - end - 1))});
        step.shape += word + "($)";
        end = close + 1;
      } else if (word.size() > 1 && !of_parameters_.contains(word) &&
                 std::string_view("tsc").find(word[0]) != std::string_view::npos &&
                 std::ranges::all_of(word.substr(1), [](unsigned char c) { return std::isdigit(c) != 0; })) {
        const bool stores = sincos ? i > last_comma(rest, 2) : i == 0;
        const auto [found, added] = values_.try_emplace(word, static_cast<int>(values_.size()));
        if (added) names_.push_back(word);
        (stores ? step.stores : step.needs).push_back(found->second);
        step.slots.push_back({Slot::Kind::value, found->second, ""});
        step.shape += '$';
      } else {
        step.shape += word;
      }
      i = end;
    }
    steps_.push_back(std::move(step));
  }
  /// Returns the end of a number in parentheses that opens at `open`; `open` where no number stands there.
  static std::size_t closes(std::string_view text, std::size_t open) {
    std::size_t end = open + 1;
    if (end < text.size() && text[end] == '-') ++end;
    if (end >= text.size() || std::isdigit(static_cast<unsigned char>(text[end])) == 0) return open;
    while (end < text.size() && text[end] != ')') ++end;
    const std::string_view inside = text.substr(open + 1, end - open - 1);
    return inside.find_first_not_of("-+.0123456789e") == std::string_view::npos ? end : open;
  }
  /// Returns the place of the comma that is number `count` from the end.
  static std::size_t last_comma(std::string_view text, int count) {
    std::size_t place = text.size();
    for (int i = 0; i < count; ++i) place = text.rfind(',', place - 1);
    return place;
  }

  /// Puts steps that are alike together. Of the shapes with steps that are ready, the next one is one whose steps are all ready, or the
  /// one that comes first. A step that becomes ready by another one of its shape follows it.
  void order() {
    std::vector<int> writer(values_.size(), -1), missing(steps_.size(), 0);
    std::vector<std::vector<int>> readers(steps_.size());
    std::map<std::string, int> number_of_shape;
    std::vector<int> shape(steps_.size());
    for (int i = 0; i < count(); ++i) {
      shape[at(i)] =
          number_of_shape.try_emplace(steps_[at(i)].shape, static_cast<int>(number_of_shape.size())).first->second;
      for (const int value : steps_[at(i)].stores) writer[at(value)] = i;
    }
    for (int i = 0; i < count(); ++i) {
      const std::set<int> before = [&] {
        std::set<int> steps;
        for (const int value : steps_[at(i)].needs) steps.insert(writer[at(value)]);
        return steps;
      }();
      missing[at(i)] = static_cast<int>(before.size());
      for (const int step : before) readers[at(step)].push_back(i);
    }
    std::vector<std::set<int>> ready(number_of_shape.size());
    std::vector<int> left(number_of_shape.size(), 0);
    for (int i = 0; i < count(); ++i) {
      ++left[at(shape[at(i)])];
      if (missing[at(i)] == 0) ready[at(shape[at(i)])].insert(i);
    }
    for (int taken = 0; taken < count();) {
      int best = -1;
      for (int s = 0; s < static_cast<int>(ready.size()); ++s) {
        if (ready[at(s)].empty()) continue;
        const auto rank = [&](int c) {
          return std::pair(static_cast<int>(ready[at(c)].size()) == left[at(c)], -*ready[at(c)].begin());
        };
        if (best < 0 || rank(s) > rank(best)) best = s;
      }
      Group group;
      while (!ready[at(best)].empty()) {
        const int step = *ready[at(best)].begin();
        ready[at(best)].erase(ready[at(best)].begin());
        group.push_back(step);
        for (const int reader : readers[at(step)])
          if (--missing[at(reader)] == 0) ready[at(shape[at(reader)])].insert(reader);
      }
      left[at(best)] -= static_cast<int>(group.size());
      taken += static_cast<int>(group.size());
      add(std::move(group));
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(steps_.size()); }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Adds a group as a loop of its own, or as a further body of the last one, where pass k needs nothing of its other passes.
  void add(Group group) {
    if (group.size() < least_of_a_loop) {
      for (const int step : group) loops_.push_back({{{step}}});
      return;
    }
    if (!loops_.empty() && joins(loops_.back(), group)) {
      Loop& last = loops_.back();
      const std::size_t passes = group.size(), copies = last.passes() / passes;
      if (copies > 1) {
        std::vector<Group> bodies;
        for (std::size_t copy = 0; copy < copies; ++copy)
          for (const Group& body : last.bodies) {
            Group part;
            for (std::size_t k = 0; k < passes; ++k) part.push_back(body[k * copies + copy]);
            bodies.push_back(std::move(part));
          }
        last.bodies = std::move(bodies);
      }
      last.bodies.push_back(std::move(group));
    } else {
      loops_.push_back({{std::move(group)}});
    }
  }
  /// Whether pass k of the group needs of the loop nothing but what the passes of it that would become pass k have stored. A step that
  /// follows others of its own group is in a chain, which stays alone.
  [[nodiscard]] bool joins(const Loop& loop, const Group& group) const {
    constexpr std::size_t most_copies = 4;
    if (loop.passes() < least_of_a_loop || loop.passes() % group.size() != 0) return false;
    const std::size_t copies = loop.passes() / group.size();
    if (copies > most_copies || (copies > 1 && loop.bodies.size() > 2)) return false;
    std::map<int, std::size_t> pass_of;
    for (const Group& body : loop.bodies)
      for (std::size_t k = 0; k < body.size(); ++k)
        for (const int value : steps_[at(body[k])].stores) pass_of[value] = k / copies;
    std::set<int> own;
    for (std::size_t k = 0; k < group.size(); ++k) {
      for (const int value : steps_[at(group[k])].needs) {
        const auto found = pass_of.find(value);
        if (own.contains(value) || (found != pass_of.end() && found->second != k)) return false;
      }
      own.insert(steps_[at(group[k])].stores.begin(), steps_[at(group[k])].stores.end());
    }
    // Passes of the loop that follow each other cannot change places with the group's.
    for (const Group& body : loop.bodies)
      for (std::size_t k = 0; k < body.size(); ++k)
        for (const int value : steps_[at(body[k])].needs)
          if (const auto found = pass_of.find(value); found != pass_of.end() && found->second != k / copies)
            return false;
    return true;
  }

  /// Decides which values are in the array w: those of a loop that other passes or other statements need, and those that passes of a
  /// loop need at the same place, where they are not the same.
  void place() {
    const std::size_t size = values_.size();
    std::vector<int> loop_of(size, -1);
    std::vector<std::size_t> pass_of(size, 0);
    std::vector<std::pair<std::size_t, std::size_t>> body_of(size);  // and which of its values
    std::vector<char> in_array(size, 0);
    std::vector<int> uses(size, 0);
    std::vector<char> other_use(size, 0);
    for (std::size_t l = 0; l < loops_.size(); ++l)
      for (std::size_t b = 0; b < loops_[l].bodies.size(); ++b)
        for (std::size_t k = 0; k < loops_[l].passes(); ++k) {
          const std::vector<int>& stores = steps_[at(loops_[l].bodies[b][k])].stores;
          for (std::size_t s = 0; s < stores.size(); ++s) {
            loop_of[at(stores[s])] = static_cast<int>(l);
            pass_of[at(stores[s])] = k;
            body_of[at(stores[s])] = {b, s};
          }
        }
    for (std::size_t l = 0; l < loops_.size(); ++l)
      for (const Group& body : loops_[l].bodies)
        for (std::size_t k = 0; k < body.size(); ++k)
          for (const int value : steps_[at(body[k])].needs) {
            ++uses[at(value)];
            if (loop_of[at(value)] != static_cast<int>(l) || pass_of[at(value)] != k) other_use[at(value)] = 1;
          }
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      if (loops_[l].passes() < 2) continue;
      for (const Group& body : loops_[l].bodies) {
        for (std::size_t slot = 0; slot < steps_[at(body[0])].slots.size(); ++slot) {
          if (steps_[at(body[0])].slots[slot].kind != Slot::Kind::value) continue;
          const auto value = [&](std::size_t k) { return steps_[at(body[k])].slots[slot].value; };
          bool own = true, same = true;
          for (std::size_t k = 0; k < body.size(); ++k) {
            own = own && loop_of[at(value(k))] == static_cast<int>(l) && pass_of[at(value(k))] == k &&
                  body_of[at(value(k))] == body_of[at(value(0))];
            same = same && value(k) == value(0);
          }
          if (own ||
              (same && loop_of[at(value(0))] != static_cast<int>(l) && loops_[at(loop_of[at(value(0))])].passes() < 2))
            continue;
          for (std::size_t k = 0; k < body.size(); ++k) in_array[at(value(k))] = 1;
        }
      }
    }
    // What has another use is in the array also where only statements outside need it.
    for (std::size_t value = 0; value < size; ++value)
      if (loop_of[value] >= 0 && loops_[at(loop_of[value])].passes() > 1 && other_use[value] != 0) in_array[value] = 1;
    // Each body stores all of its values in the array, or none.
    for (const Loop& loop : loops_)
      for (const Group& body : loop.bodies)
        for (std::size_t s = 0; s < steps_[at(body[0])].stores.size(); ++s)
          if (loop.passes() > 1 &&
              std::ranges::any_of(body, [&](int step) { return in_array[at(steps_[at(step)].stores[s])] != 0; }))
            for (const int step : body) in_array[at(steps_[at(step)].stores[s])] = 1;
    // The steps of a sum take the place of the sum so far, which nothing else needs.
    place_.assign(size, -1);
    for (const Loop& loop : loops_)
      for (std::size_t k = 0; k < loop.passes(); ++k)
        for (const Group& body : loop.bodies) {
          const Step& step = steps_[at(body[k])];
          for (const int value : step.stores) {
            if (in_array[at(value)] == 0) continue;
            for (const int old : step.needs)
              if (uses[at(old)] == 1 && place_[at(old)] >= 0 && place_[at(value)] < 0)
                place_[at(value)] = place_[at(old)];
            if (place_[at(value)] < 0) place_[at(value)] = stored_++;
          }
        }
  }

  void write(const Loop& loop) {
    if (loop.passes() < 2) return write_statement(steps_[at(loop.bodies[0][0])]);
    std::vector<std::string> body_lines, indices, numbers;
    std::vector<std::vector<int>> columns;
    std::map<int, std::string> local;
    int names = 0;
    const auto index = [&](const std::vector<int>& column) -> std::string {
      const int first = column[0], rate = column[1] - first;
      bool affine = true;
      for (std::size_t k = 0; k < column.size(); ++k)
        affine = affine && column[k] == first + rate * static_cast<int>(k);
      if (affine && rate == 0) return std::to_string(first);
      if (affine) {
        const std::string product = rate == 1 ? "k" : rate == -1 ? "-k" : fmt::format("{} * k", rate);
        return first == 0 ? product : fmt::format("{} + {}", first, product);
      }
      auto found = std::ranges::find(columns, column);
      if (found == columns.end()) found = columns.insert(columns.end(), column);
      return fmt::format("at[k][{}]", found - columns.begin());
    };
    std::vector<std::vector<std::string>> constants;
    for (const Group& body : loop.bodies) {
      const Step& first = steps_[at(body[0])];
      std::string text, head;
      std::size_t slot = 0;
      for (const char c : first.shape) {
        if (c != '$') {
          text += c;
          continue;
        }
        const Slot& one = first.slots[slot];
        std::vector<int> column;
        std::vector<std::string> constant;
        for (const int step : body) {
          const Slot& here = steps_[at(step)].slots[slot];
          constant.push_back(here.number);
          column.push_back(here.kind == Slot::Kind::value ? place_[at(here.value)] : here.value);
        }
        ++slot;
        if (one.kind == Slot::Kind::number) {
          if (std::ranges::all_of(constant, [&](const std::string& n) { return n == one.number; })) {
            text += one.number;
            continue;
          }
          auto found = std::ranges::find(constants, constant);
          if (found == constants.end()) found = constants.insert(constants.end(), constant);
          text += fmt::format("number[k][{}]", found - constants.begin());
        } else if (one.kind == Slot::Kind::index) {
          text += index(column);
        } else if (place_[at(one.value)] >= 0) {
          text += fmt::format("w[{}]", index(column));
        } else if (const auto known = local.find(one.value); known != local.end()) {
          text += known->second;
        } else if (std::ranges::find(first.stores, one.value) != first.stores.end()) {
          local[one.value] = fmt::format("t{}", names++);
          if (first.shape.starts_with("sincos"))
            head += fmt::format("S {};", local[one.value]);
          else
            head = "const S ";
          text += local[one.value];
        } else {
          text += names_[at(one.value)];
        }
      }
      if (!head.empty() && head != "const S ") {
        body_lines.push_back("  " + head);
        head.clear();
      }
      body_lines.push_back("  " + head + text);
    }
    lines_.emplace_back("{");
    const auto table = [&](std::string_view type, std::string_view name, std::size_t width, const auto& entry) {
      std::vector<std::string> rows;
      for (std::size_t k = 0; k < loop.passes(); ++k) {
        std::vector<std::string> row;
        for (std::size_t c = 0; c < width; ++c) row.push_back(entry(k, c));
        rows.push_back(fmt::format("{{{}}}", fmt::join(row, ", ")));
      }
      lines_.push_back(fmt::format("  static constexpr {} {}[{}][{}] = {{{}}};", type, name, loop.passes(), width,
                                   fmt::join(rows, ", ")));
    };
    if (!columns.empty())
      table("int", "at", columns.size(), [&](std::size_t k, std::size_t c) { return std::to_string(columns[c][k]); });
    if (!constants.empty())
      table("double", "number", constants.size(), [&](std::size_t k, std::size_t c) { return constants[c][k]; });
    lines_.emplace_back("  RB_ROLLED");
    lines_.push_back(fmt::format("  for (int k = 0; k < {}; ++k) {{", loop.passes()));
    for (const std::string& text : body_lines) lines_.push_back("  " + text);
    lines_.emplace_back("  }");
    lines_.emplace_back("}");
  }
  void write_statement(const Step& step) {
    std::string text, head;
    std::size_t slot = 0;
    for (const char c : step.shape) {
      if (c != '$') {
        text += c;
        continue;
      }
      const Slot& here = step.slots[slot++];
      if (here.kind == Slot::Kind::number) {
        text += here.number;
      } else if (here.kind == Slot::Kind::index) {
        text += std::to_string(here.value);
      } else if (place_[at(here.value)] >= 0) {
        text += fmt::format("w[{}]", place_[at(here.value)]);
      } else {
        text += names_[at(here.value)];
        if (std::ranges::find(step.stores, here.value) == step.stores.end()) continue;
        if (step.shape.starts_with("sincos"))
          head += fmt::format("S {};", names_[at(here.value)]);
        else
          head = "const S ";
      }
    }
    if (!head.empty() && head != "const S ") {
      lines_.push_back(head);
      head.clear();
    }
    lines_.push_back(head + text);
  }

  std::set<std::string> of_parameters_;  ///< names of the type T
  std::map<std::string, int> values_;    ///< by name
  std::vector<std::string> names_;
  std::vector<Step> steps_;
  std::vector<Loop> loops_;
  std::vector<int> place_;  ///< of a value in w; -1 for one with a name
  int stored_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> rolled(const std::vector<std::string>& statements) { return Roller()(statements); }

}  // namespace rattleback
