#pragma once

#include "messages/base/error.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill::wordnet {

/// The four data files, in the order in which their synsets are numbered.
inline constexpr std::array<std::string_view, 4> data_files{
  "data.noun", "data.verb", "data.adj", "data.adv"};

/// A pointer symbol of wninput(5WN) and the name of its relation. The name says
/// what the pointer's target is to its holder.
struct relation {
  std::string_view symbol;
  std::string_view name;
};

/// All relations, in the order of the edge types made of them.
std::span<const relation> relations();
/// The position of a symbol in `relations()`, if it is one.
std::optional<int> find_relation(std::string_view symbol);

/// Names of the lexicographer files, by number: see lexnames(5WN).
std::span<const std::string_view> lexicographer_files();

/// A pointer as it stands in a data file: to a synset of file `file` that
/// starts at byte `offset` there.
struct pointer {
  int relation = 0;
  int file = 0; ///< Position in `data_files`.
  std::uint32_t offset = 0;
};

/// One synset. The views point into the line.
struct synset {
  std::uint32_t offset = 0;
  int lexicographer_file = 0;
  std::vector<std::string_view> lemmas; ///< As spelt: `_` for blanks.
  std::vector<pointer> pointers;
  std::string_view gloss; ///< Definitions and quoted examples.
};

/// Parses one line of data file number `file`, in the format of wndb(5WN),
/// without its line end. The error says what is wrong with the line, not where
/// it stands.
result<synset> parse_synset(std::string_view line, int file);

/// Takes the next definition off a gloss: the text up to the next example,
/// which stands in quotes and is taken off, too. The closing quote may be
/// missing; then the rest is an example.
/// @param gloss What is left; becomes empty with the last definition.
/// @returns the definition, a view into the gloss.
std::string_view next_definition(std::string_view& gloss);

} // namespace graphmill::wordnet
