#pragma once
// Citations as JSON and as a BibTeX file.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "rattleback/study/citation.hpp"

namespace rattleback {

/// Returns key, place, text and the fields of each reference.
[[nodiscard]] nlohmann::ordered_json json_of(std::span<const Citation> citations);

/// Returns the citations of a system or a method of the catalogue; without a system and a method for an unknown name.
[[nodiscard]] StudyCitations citations_of_entry(const std::string& name);

/// A reference in a list, with all that cites it: "system chaotic (section 7.3)".
struct Listed {
  const Publication* reference;
  std::vector<std::string> uses;
};

/// Returns the references of a study in the order software, method, system, ensemble. Each appears once.
[[nodiscard]] std::vector<Listed> references_of(const StudyCitations& citations);

/// Where numbers come from: fields of the entry of the software.
struct Provenance {
  std::string version, git, fingerprint;  ///< empty where unknown
};

/// Returns a user's text for a comment in a BibTeX file: one line, in which "(at)" stands for '@', because BibTeX takes an '@'
/// between entries for the beginning of one.
[[nodiscard]] std::string in_bibtex_comment(std::string_view text);

/// Returns an entry of BibTeX for each reference, with a comment above it that tells its uses.
[[nodiscard]] std::string bibtex_of(std::span<const Listed> references, const Provenance& provenance);

}  // namespace rattleback
