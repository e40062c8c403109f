#include "rattleback/study/citation.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "rattleback/base/message.hpp"
#include "rattleback/study/references.hpp"

namespace rattleback {
namespace {

std::string text_of(const toml::table& table, std::string_view key) { return table[key].value_or(std::string()); }

Publication reference_of(const toml::table& table) {
  Publication reference{.key = text_of(table, "key"),
                        .type = text_of(table, "type"),
                        .authors = {},
                        .title = text_of(table, "title"),
                        .journal = text_of(table, "journal"),
                        .booktitle = text_of(table, "booktitle"),
                        .volume = text_of(table, "volume"),
                        .number = text_of(table, "number"),
                        .pages = text_of(table, "pages"),
                        .edition = text_of(table, "edition"),
                        .publisher = text_of(table, "publisher"),
                        .doi = text_of(table, "doi"),
                        .eprint = text_of(table, "eprint"),
                        .year = table["year"].value_or(0)};
  if (const toml::array* authors = table["authors"].as_array())
    for (const toml::node& author : *authors) reference.authors.push_back(author.value_or(std::string()));
  return reference;
}

/// Returns "P. L. Kinon" for "Kinon, Philipp L.", and the name itself for a group.
std::string short_name(const std::string& author) {
  if (author.starts_with('{')) return author.substr(1, author.size() - 2);
  const std::size_t comma = author.find(", ");
  if (comma == std::string::npos) return author;
  std::string initials;
  bool begins = true;
  for (std::size_t i = comma + 2; i < author.size(); ++i) {
    const auto c = static_cast<unsigned char>(author[i]);
    if (c == ' ' || c == '-') {
      begins = true;
    } else if (begins) {
      initials += author[i];
      while (i + 1 < author.size() && (static_cast<unsigned char>(author[i + 1]) & 0xC0) == 0x80)
        initials += author[++i];
      initials += ". ";
      begins = false;
    }
  }
  return initials + author.substr(0, comma);
}

std::string with_dash(std::string pages) {
  const std::size_t dashes = pages.find("--");
  return dashes == std::string::npos ? pages : pages.replace(dashes, 2, "-");
}

}  // namespace

const Bibliography& Bibliography::instance() {
  static const Bibliography bibliography;
  return bibliography;
}

Bibliography::Bibliography() {
  const toml::table root = toml::parse(std::string_view(bibliography_text()), std::string_view("references.toml"));
  for (const toml::node& node : *root["reference"].as_array()) references_.push_back(reference_of(*node.as_table()));
  const auto add = [this](const std::string& table, std::string_view name, const toml::node& node) {
    Entry entry{table, std::string(name), {}};
    for (const toml::node& item : *node.as_array()) {
      const std::string text = item.value_or(std::string());
      const std::size_t colon = text.find(": ");
      const Publication* reference = find(text.substr(0, colon));
      if (reference == nullptr)
        throw std::logic_error(fmt::format("references.toml: {} of {} names the unknown key '{}'", name, table, text));
      entry.citations.push_back({reference, colon == std::string::npos ? "" : text.substr(colon + 2)});
    }
    entries_.push_back(std::move(entry));
  };
  for (const char* table : {"systems", "methods", "axes"})
    for (const auto& [name, node] : *root[table].as_table()) add(table, name.str(), node);
  for (const auto& [option, values] : *root["options"].as_table())
    for (const auto& [value, node] : *values.as_table()) add(std::string(option.str()), value.str(), node);
}

const Publication* Bibliography::find(std::string_view key) const {
  const auto found = std::ranges::find(references_, key, &Publication::key);
  return found == references_.end() ? nullptr : &*found;
}

std::vector<Citation> Bibliography::cited(std::string_view table, std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.table == table && entry.name == name) return entry.citations;
  return {};
}

std::vector<Citation> Bibliography::of_option(std::string_view method, std::string_view option,
                                              std::string_view value) const {
  return cited(fmt::format("{}.{}", method, option), value);
}

std::vector<std::string> Bibliography::names(std::string_view table) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_)
    if (entry.table == table) names.push_back(entry.name);
  return names;
}

StudyCitations Bibliography::of_study(std::string_view toml, std::string_view origin) const {
  toml::table root;
  try {
    root = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    input_error(origin, fmt::format("holds no study that can be read ({})", error.description()));
  }
  StudyCitations found;
  found.name = root["study"]["name"].value_or(std::string());
  found.system = root["system"]["name"].value_or(std::string());
  found.method = root["method"]["name"].value_or(std::string());
  if (found.method.empty()) input_error(origin, "holds no study (there is no method.name)");
  const toml::table* system = root["system"].as_table();
  const auto has = [system](const char* key) { return system != nullptr && system->contains(key); };
  if (has("coordinates") || has("group") || has("file")) {
    found.own_system = (*system)["source"].value_or(std::string());
    if (found.own_system.empty()) found.own_system = "the study";
  } else {
    found.of_system = of_system(found.system);
  }
  found.of_method = of_method(found.method);
  const auto extend = [](std::vector<Citation>& citations, std::vector<Citation> more) {
    for (Citation& citation : more)
      if (std::ranges::find(citations, citation.reference, &Citation::reference) == citations.end())
        citations.push_back(std::move(citation));
  };
  for (const auto& [option, value] : *root["method"].as_table())
    if (const auto choice = value.value<std::string>())
      extend(found.of_method, of_option(found.method, option.str(), *choice));
  if (const toml::array* axes = root["ensemble"]["axes"].as_array())
    for (const toml::node& node : *axes)
      if (const toml::table* axis = node.as_table()) {
        const auto distribution = (*axis)["distribution"].value<std::string>();
        if (!distribution) continue;
        extend(found.of_ensemble, cited("axes", *distribution));
        // A quasi-random axis with a standard deviation is normal.
        if ((*distribution == "sobol" || *distribution == "lattice") && axis->contains("std"))
          extend(found.of_ensemble, {{find("wichura1988"), ""}});
      }
  return found;
}

std::string to_text(const Publication& r) {
  std::string text;
  for (const std::string& author : r.authors) text += (text.empty() ? "" : ", ") + short_name(author);
  text += fmt::format(": {}.", r.title);
  if (!r.journal.empty()) text += fmt::format(" {} {} ({}), {}.", r.journal, r.volume, r.year, with_dash(r.pages));
  if (!r.booktitle.empty()) text += fmt::format(" In: {}.", r.booktitle);
  if (r.journal.empty()) {
    if (!r.volume.empty()) text += fmt::format(" Volume {}.", r.volume);
    if (!r.edition.empty()) text += fmt::format(" Edition {}.", r.edition);
    text += r.publisher.empty() ? fmt::format(" {}", r.year) : fmt::format(" {} {}", r.publisher, r.year);
    text += r.pages.empty() ? "." : fmt::format(", pages {}.", with_dash(r.pages));
  }
  if (!r.doi.empty()) text += fmt::format(" doi:{}", r.doi);
  if (!r.eprint.empty() && r.doi.find("arXiv") == std::string::npos) text += fmt::format(" arXiv:{}", r.eprint);
  return text;
}

std::string to_text(const Citation& citation) {
  const std::string text = to_text(*citation.reference);
  return citation.place.empty() ? text : fmt::format("{} [{}]", text, citation.place);
}

std::string to_bibtex(const Publication& r, std::span<const std::pair<std::string, std::string>> more) {
  std::string authors;
  for (const std::string& author : r.authors) authors += (authors.empty() ? "" : " and ") + author;
  std::string text = fmt::format("@{}{{{},\n", r.type, r.key);
  const auto field = [&text](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<13} = {{{}}},\n", name, value);
  };
  field("author", authors);
  field("title", r.title.empty() ? "" : fmt::format("{{{}}}", r.title));
  field("journal", r.journal);
  field("booktitle", r.booktitle);
  field("volume", r.volume);
  field("number", r.number);
  field("pages", r.pages);
  field("edition", r.edition);
  field("publisher", r.publisher);
  field("year", fmt::format("{}", r.year));
  field("doi", r.doi);
  field("eprint", r.eprint);
  if (!r.eprint.empty()) field("archiveprefix", "arXiv");
  for (const auto& [name, value] : more) field(name, value);
  return text + "}\n";
}

}  // namespace rattleback
