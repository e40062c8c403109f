#pragma once
// References of systems, methods and axes, from the bibliography of the program (references.toml).

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rattleback {

/// A publication, or the program itself. Texts are UTF-8; a field that the publication does not have is empty.
struct Publication {
  std::string key;                   ///< "kinon2023"
  std::string type;                  ///< of BibTeX: article, book, inproceedings, misc, software
  std::vector<std::string> authors;  ///< "Kinon, Philipp L."; a group in braces: "{The rattleback authors}"
  std::string title, journal, booktitle, volume, number, pages, edition, publisher;
  std::string doi, eprint;  ///< the eprint is of arXiv
  int year = 0;
};

/// A reference of an entry, and the place in the publication ("section 7.3"), which may be empty.
struct Citation {
  const Publication* reference;
  std::string place;
};

/// What the results of a study rest on.
struct StudyCitations {
  std::string name;            ///< of the study
  std::string system, method;  ///< names; the system of a user may have none
  std::string own_system;      ///< what the study tells of the source of a system of the user
  std::vector<Citation> of_system, of_method, of_ensemble;
};

/// The bibliography. All keys in it resolve, which the constructor checks.
class Bibliography {
 public:
  static const Bibliography& instance();

  [[nodiscard]] std::span<const Publication> references() const { return references_; }
  /// Returns the reference of a key; nullptr for an unknown key.
  [[nodiscard]] const Publication* find(std::string_view key) const;
  /// Returns the citations of a system or a method by its name; empty for an unknown name.
  [[nodiscard]] std::vector<Citation> of_system(std::string_view name) const { return cited("systems", name); }
  [[nodiscard]] std::vector<Citation> of_method(std::string_view name) const { return cited("methods", name); }
  /// Returns what a value of an option adds; empty for most options.
  [[nodiscard]] std::vector<Citation> of_option(std::string_view method, std::string_view option,
                                                std::string_view value) const;
  /// Returns the names below [systems], [methods] or [axes].
  [[nodiscard]] std::vector<std::string> names(std::string_view table) const;
  /// Returns the citations of a complete study (Study::to_toml, or the attribute `study` of a result). Files that the
  /// study names are not read. Throws Error(input) with `origin` for a text that is no study.
  [[nodiscard]] StudyCitations of_study(std::string_view toml, std::string_view origin) const;

 private:
  struct Entry {
    std::string table, name;  ///< "systems", "chaotic"
    std::vector<Citation> citations;
  };

  Bibliography();
  [[nodiscard]] std::vector<Citation> cited(std::string_view table, std::string_view name) const;

  std::vector<Publication> references_;
  std::vector<Entry> entries_;
};

/// Returns a reference as one line: "P. L. Kinon, ..: Structure-preserving ... Nonlinear Dynamics 111 (2023),
/// 14231-14261. doi:10.1007/s11071-023-08522-7".
[[nodiscard]] std::string to_text(const Publication& reference);
/// The same, with the place.
[[nodiscard]] std::string to_text(const Citation& citation);
/// Returns a reference as an entry of BibTeX. `more` are further fields with their values.
[[nodiscard]] std::string to_bibtex(const Publication& reference,
                                    std::span<const std::pair<std::string, std::string>> more = {});

}  // namespace rattleback
