#include "partition/files/content_hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace graphmill {

void content_hash::free_state::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

content_hash::content_hash() : state_(XXH3_createState()) {
  if (state_ == nullptr)
    throw std::bad_alloc{};
  XXH3_128bits_reset(state_.get());
}

void content_hash::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

void content_hash::update(std::string_view text) {
  update(std::as_bytes(std::span{text}));
}

std::string content_hash::digest() const {
  const auto value = XXH3_128bits_digest(state_.get());
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

std::uint64_t content_hash::short_digest() const {
  return XXH3_128bits_digest(state_.get()).low64;
}

} // namespace graphmill
