#include "rattleback/study/citations.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rattleback/base/message.hpp"
#include "rattleback/study/catalogue.hpp"

namespace rattleback {

nlohmann::ordered_json json_of(std::span<const Citation> citations) {
  auto json = nlohmann::ordered_json::array();
  for (const Citation& citation : citations) {
    const Publication& r = *citation.reference;
    auto& entry = json.emplace_back();
    entry["key"] = r.key;
    entry["place"] = citation.place;
    entry["text"] = to_text(r);
    entry["type"] = r.type;
    entry["authors"] = r.authors;
    entry["title"] = r.title;
    for (const auto& [name, value] : {std::pair{"journal", r.journal},
                                      {"booktitle", r.booktitle},
                                      {"volume", r.volume},
                                      {"number", r.number},
                                      {"pages", r.pages},
                                      {"edition", r.edition},
                                      {"publisher", r.publisher},
                                      {"doi", r.doi},
                                      {"eprint", r.eprint}})
      if (!value.empty()) entry[name] = value;
    entry["year"] = r.year;
  }
  return json;
}

std::vector<Listed> references_of(const StudyCitations& citations) {
  std::vector<Listed> list;
  const auto add = [&list](const Citation& citation, const std::string& what) {
    auto found = std::ranges::find(list, citation.reference, &Listed::reference);
    if (found == list.end()) found = list.insert(list.end(), {citation.reference, {}});
    found->uses.push_back(citation.place.empty() ? what : fmt::format("{} ({})", what, citation.place));
  };
  add({Bibliography::instance().find("rattleback"), ""}, "software");
  for (const Citation& citation : citations.of_method) add(citation, "method " + citations.method);
  for (const Citation& citation : citations.of_system) add(citation, "system " + citations.system);
  for (const Citation& citation : citations.of_ensemble) add(citation, "initial states and parameters");
  return list;
}

std::string in_bibtex_comment(std::string_view text) {
  std::string comment;
  for (const char c : one_line(text)) comment += c == '@' ? std::string("(at)") : std::string(1, c);
  return comment;
}

namespace {

/// Returns a text of a file for a field of an entry: a brace or a backslash in it would end the field, or be a command of TeX.
std::string in_bibtex_field(std::string_view text) {
  std::string field;
  for (const char c : one_line(text)) switch (c) {
      case '{':
      case '}':
      case '\\':
        field += c == '{' ? '(' : c == '}' ? ')' : '/';
        break;
      case '%':
      case '#':
      case '$':
      case '&':
      case '_':
        field += '\\';
        field += c;
        break;
      case '^':
      case '~':
        field += fmt::format("\\{}{{}}", c);
        break;
      default:
        field += c;
    }
  return field;
}

}  // namespace

std::string bibtex_of(std::span<const Listed> references, const Provenance& provenance) {
  std::string text;
  for (const Listed& listed : references) {
    std::vector<std::pair<std::string, std::string>> more;
    if (listed.reference->type == "software") {
      if (!provenance.version.empty()) more.emplace_back("version", in_bibtex_field(provenance.version));
      std::string note = provenance.git.empty() ? "" : "commit " + provenance.git;
      if (!provenance.fingerprint.empty())
        note += fmt::format("{}fingerprint of the result: {}", note.empty() ? "" : "; ", provenance.fingerprint);
      if (!note.empty()) more.emplace_back("note", in_bibtex_field(note));
    }
    text += text.empty() ? "" : "\n";
    if (!listed.uses.empty())
      text += fmt::format("% {}\n", in_bibtex_comment(fmt::format("{}", fmt::join(listed.uses, "; "))));
    text += to_bibtex(*listed.reference, more);
  }
  return text;
}

StudyCitations citations_of_entry(const std::string& name) {
  StudyCitations citations;
  citations.name = name;
  const Catalogue& catalogue = Catalogue::instance();
  if (catalogue.method(name) != nullptr) {
    citations.method = name;
    citations.of_method = Bibliography::instance().of_method(name);
  } else if (const auto instances = catalogue.instances(name); !instances.empty()) {
    citations.system = instances[0]->name;
    citations.of_system = Bibliography::instance().of_system(citations.system);
  }
  return citations;
}

}  // namespace rattleback
