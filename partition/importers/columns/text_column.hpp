#pragma once

#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/column_options.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// `as: text`: n-grams of words or characters, hashed to `buckets` features by
/// XXH3. `ngrams` has one length or the least and the greatest. Words are runs
/// of letters and digits, in small letters. `weigh` says what a feature is: the
/// count of its n-grams, `binary` (1 where there are some), or `tfidf`: the
/// count times log((1 + N) / (1 + n)) + 1, where n of N fields have the
/// feature. `norm: l2` scales each row to length 1, as tfidf does by default.
class text_column final : public column_transform {
public:
  static std::unique_ptr<column_transform> make(column_options& options,
                                                bool scaled_later);

  bool needs_fit() const override { return tfidf_; }
  result<void> learn(std::string_view field) override;
  result<void> finish() override;
  std::vector<std::string> names() const override;
  result<void> write(std::string_view field, std::span<double> out) override;
  nlohmann::json state() const override;
  result<void> restore(const nlohmann::json& state) override;

private:
  void count(std::string_view field, std::span<double> out);
  void count_words(std::string_view text, std::span<double> out);
  void count_characters(std::string_view text, std::span<double> out);
  static void add(std::string_view gram, std::span<double> out);

  std::vector<std::string> none_;
  std::int64_t buckets_ = 0;
  bool characters_ = false;
  std::size_t shortest_ = 1;
  std::size_t longest_ = 1;
  bool binary_ = false;
  bool tfidf_ = false;
  bool unit_length_ = false;
  double fields_ = 0;           ///< While fitting.
  std::vector<double> with_;    ///< [buckets] Fields with the feature.
  std::vector<double> inverse_; ///< [buckets] Inverse document frequencies.
  std::vector<double> row_;     ///< [buckets] Of one field while fitting.
};

} // namespace graphmill
