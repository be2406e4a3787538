#include "partition/importers/wordnet/hashed_words.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>

namespace graphmill {

hashed_words::hashed_words(std::span<float> row) : row_(row) {
  std::fill(row_.begin(), row_.end(), 0.0f);
}

void hashed_words::add(std::string_view text, float weight) {
  for (const auto c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 'A' && byte <= 'Z')
      word_ += static_cast<char>(byte - 'A' + 'a');
    else if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9')
             || byte >= 0x80)
      word_ += c;
    else
      add_word(weight);
  }
  add_word(weight);
}

void hashed_words::add_word(float weight) {
  if (word_.empty())
    return;
  const auto hash = XXH3_64bits(word_.data(), word_.size());
  // The column from the low bits, the sign from the highest.
  row_[hash % row_.size()] += (hash >> 63) != 0 ? -weight : weight;
  word_.clear();
}

void hashed_words::normalise() {
  double squares = 0;
  for (const auto x : row_)
    squares += double{x} * double{x};
  if (squares == 0)
    return;
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (auto& x : row_)
    x *= scale;
}

} // namespace graphmill
