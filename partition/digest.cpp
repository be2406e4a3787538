#include "partition/digest.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace graphmill {

namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 20;

/// Feeds values to the hash, each with its length, so that no two different
/// sequences of them give the same bytes.
class hasher {
public:
  explicit hasher(const progress_callback& on_progress)
    : state_(XXH3_createState()), on_progress_(on_progress) {
    XXH3_128bits_reset(state_.get());
  }

  void integer(std::int64_t value) {
    XXH3_128bits_update(state_.get(), &value, sizeof value);
  }

  void text(std::string_view value) {
    integer(std::ssize(value));
    XXH3_128bits_update(state_.get(), value.data(), value.size());
  }

  void array(const npy_array& values) {
    text(to_string(values.type()));
    integer(values.size());
    values.file().advise_sequential();
    auto bytes =
      std::span{values.data(), static_cast<std::size_t>(values.size())
                                 * size_of(values.type())};
    while (!bytes.empty()) {
      const auto block = bytes.first(std::min(bytes.size(), block_bytes));
      XXH3_128bits_update(state_.get(), block.data(), block.size());
      bytes = bytes.subspan(block.size());
      done_ += block.size();
      if (on_progress_)
        on_progress_({.phase = "compute digest", .done = done_});
    }
  }

  void optional_array(const std::optional<npy_array>& values) {
    integer(values.has_value() ? 1 : 0);
    if (values)
      array(*values);
  }

  std::string finish() const {
    const auto hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

private:
  struct free_state {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, free_state> state_;
  const progress_callback& on_progress_;
  std::uint64_t done_ = 0;
};

} // namespace

result<std::string> content_digest(const dataset& data,
                                   const progress_callback& on_progress) {
  const auto& info = data.info();
  hasher hash{on_progress};
  hash.text(info.node_types[info.target].name);
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto& type = info.node_types[t];
    hash.text(type.name);
    hash.integer(type.count);
    hash.integer(type.feature_width);
    hash.integer(type.class_count);
    hash.optional_array(data.nodes(t).features);
    hash.optional_array(data.nodes(t).labels);
    for (const auto& ids : data.nodes(t).splits)
      hash.optional_array(ids);
  }
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t) {
    hash.text(info.edge_type_name(t));
    hash.array(data.edges(t).indptr);
    hash.array(data.edges(t).indices);
  }
  if (auto broken = mapped_file::first_fault())
    return *std::move(broken);
  return hash.finish();
}

} // namespace graphmill
