#pragma once

#include <span>
#include <string>
#include <string_view>

namespace graphmill {

/// Turns words into rows of a fixed width without a vocabulary: the hashing
/// trick (Weinberger et al., "Feature hashing for large scale multitask
/// learning", ICML'09). A word is a run of letters, digits and bytes outside
/// ASCII, with ASCII letters in lower case; its XXH3 hash gives a column and a
/// sign, so that collisions cancel on average. The hash is part of the format:
/// the same text gives the same row everywhere.
class hashed_words {
public:
  /// @param row Where the counts are kept; it is borrowed, and cleared now.
  explicit hashed_words(std::span<float> row);

  /// Counts the words of a text, each as `weight`.
  void add(std::string_view text, float weight = 1);

  /// Scales the row to Euclidean length 1. A row without words stays zero.
  void normalise();

private:
  void add_word(float weight);

  std::span<float> row_;
  std::string word_;
};

} // namespace graphmill
