#include "partition/importers/columns/text_column.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/importers/columns/fields/column_state.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

constexpr std::int64_t most_text_buckets = 65536;
constexpr std::int64_t longest_gram = 8;

/// In small letters: those of ASCII and of Latin-1 (umlauts and accents).
std::string small_letters(std::string_view text) {
  std::string out{text};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    const auto after_c3 =
      i > 0 && static_cast<unsigned char>(out[i - 1]) == 0xc3;
    if (byte >= 'A' && byte <= 'Z')
      out[i] = static_cast<char>(byte - 'A' + 'a');
    else if (after_c3 && byte >= 0x80 && byte <= 0x9e && byte != 0x97)
      out[i] = static_cast<char>(byte + 0x20);
  }
  return out;
}

bool is_of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9')
         || byte >= 0x80;
}

/// Where the words or characters of a text begin and end.
using text_pieces = std::vector<std::string_view>;

} // namespace

std::unique_ptr<column_transform> text_column::make(column_options& options,
                                                    bool /*scaled_later*/) {
  constexpr std::int64_t usual_buckets = 128;
  auto out = std::make_unique<text_column>();
  out->none_ = options.texts("none");
  out->buckets_ = options.count("buckets", usual_buckets, 2, most_text_buckets);
  out->characters_ =
    options.choice("of", {"words", "characters"}, "words") == "characters";
  const auto weigh =
    options.choice("weigh", {"count", "binary", "tfidf"}, "count");
  out->binary_ = weigh == "binary";
  out->tfidf_ = weigh == "tfidf";
  out->unit_length_ =
    options.choice("norm", {"none", "l2"}, out->tfidf_ ? "l2" : "none") == "l2";
  auto lengths = options.texts("ngrams");
  if (lengths.empty())
    lengths.emplace_back(out->characters_ ? "3" : "1");
  const auto shortest = number_from<std::int64_t>(lengths.front());
  const auto longest = number_from<std::int64_t>(lengths.back());
  if (lengths.size() > 2 || !shortest || !longest || *shortest < 1
      || *longest < *shortest || *longest > longest_gram) {
    options.add_mistake(fmt::format("ngrams should be a length or two, the "
                                    "lower one first, of 1 to {}",
                                    longest_gram));
    return out;
  }
  out->shortest_ = static_cast<std::size_t>(*shortest);
  out->longest_ = static_cast<std::size_t>(*longest);
  return out;
}

void text_column::add(std::string_view gram, std::span<double> out) {
  out[XXH3_64bits(gram.data(), gram.size()) % out.size()] += 1;
}

void text_column::count_words(std::string_view text, std::span<double> out) {
  text_pieces words;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = begin;
    while (end < text.size() && is_of_word(text[end]))
      ++end;
    if (end > begin)
      words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  for (auto n = shortest_; n <= longest_; ++n)
    for (std::size_t i = 0; i + n <= words.size(); ++i)
      add(fmt::format(
            "{}",
            fmt::join(words.begin() + static_cast<std::ptrdiff_t>(i),
                      words.begin() + static_cast<std::ptrdiff_t>(i + n), " ")),
          out);
}

void text_column::count_characters(std::string_view text,
                                   std::span<double> out) {
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < text.size();) {
    begins.push_back(at);
    at += std::max<std::size_t>(1, utf8_length(text.substr(at)));
  }
  const auto characters = begins.size();
  begins.push_back(text.size());
  for (auto n = shortest_; n <= longest_; ++n)
    for (std::size_t i = 0; i + n <= characters; ++i)
      add(text.substr(begins[i], begins[i + n] - begins[i]), out);
}

void text_column::count(std::string_view field, std::span<double> out) {
  if (is_missing(field, none_))
    return;
  const auto text = small_letters(field);
  if (characters_)
    count_characters(text, out);
  else
    count_words(text, out);
}

result<void> text_column::learn(std::string_view field) {
  const auto size = static_cast<std::size_t>(buckets_);
  row_.assign(size, 0);
  with_.resize(size);
  count(field, row_);
  fields_ += 1;
  for (std::size_t i = 0; i < size; ++i)
    with_[i] += row_[i] > 0 ? 1 : 0;
  return ok();
}

result<void> text_column::finish() {
  inverse_.clear();
  with_.resize(static_cast<std::size_t>(buckets_));
  for (const auto with : with_)
    inverse_.push_back(std::log((1 + fields_) / (1 + with)) + 1);
  with_ = {};
  row_ = {};
  return ok();
}

std::vector<std::string> text_column::names() const {
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < buckets_; ++i)
    out.push_back(fmt::format("#{}", i));
  return out;
}

result<void> text_column::write(std::string_view field, std::span<double> out) {
  count(field, out);
  double squares = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (binary_ && out[i] > 0)
      out[i] = 1;
    if (tfidf_)
      out[i] *= inverse_[i];
    squares += out[i] * out[i];
  }
  if (unit_length_ && squares > 0)
    for (auto& value : out)
      value /= std::sqrt(squares);
  return ok();
}

nlohmann::json text_column::state() const {
  if (!tfidf_)
    return nlohmann::json::object();
  return {{"inverse", inverse_}};
}

result<void> text_column::restore(const nlohmann::json& state) {
  if (!tfidf_)
    return ok();
  GRAPHMILL_TRY(inverse_, state_numbers(state, "inverse"));
  if (std::ssize(inverse_) != buckets_)
    return fail(ec::invalid_data, "the fitted state is of {} buckets, not {}",
                inverse_.size(), buckets_);
  return ok();
}

} // namespace graphmill
