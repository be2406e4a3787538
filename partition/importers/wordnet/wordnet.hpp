#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/keyed_split.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace graphmill {

/// What to import, and how.
struct wordnet_options {
  /// The folder with data.noun, data.verb, data.adj and data.adv.
  std::filesystem::path source = "/usr/share/wordnet";
  std::int64_t feature_width = 512; ///< How many columns words are hashed to.
  std::uint64_t seed = 0;           ///< What splits are drawn by.
  split_fractions fractions{0.1, 0.1, 0.8};
  bool reverse = false; ///< Add the reverse of each edge type: `rev_<name>`.
  std::string name = "wordnet"; ///< Of the dataset.
};

/// Makes a dataset of the WordNet database files (format: wndb(5WN)).
///
/// Nodes: type `synset`, numbered file by file (noun, verb, adj, adv) and by
/// offset within a file. Edges: one type per pointer symbol, named after what
/// the source is to the destination: the pointer's holder is the destination,
/// its target the source, so `synset__hypernym__synset` leads from a hypernym
/// to its hyponym. Destinations ascend, sources stand in the order of the
/// pointers; repetitions within a relation (lexical pointers between other
/// words of the same synsets) are dropped. `\` is `pertainym` for adjectives
/// and adverbs alike.
///
/// Features: the words of the lemmas and of the gloss without its quoted
/// examples (they were measured to do harm), lemmas at half the weight, hashed
/// and scaled to length 1.
/// Labels: the lexicographer file, which the text of a synset does not name.
///
/// @param folder An existing, empty folder.
result<dataset_info> import_wordnet(const wordnet_options& options,
                                    const std::filesystem::path& folder,
                                    const progress_callback& on_progress = {});

/// The files that `import_wordnet` reads.
result<std::vector<std::filesystem::path>>
wordnet_files(const wordnet_options& options);

} // namespace graphmill
