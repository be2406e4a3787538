#include "partition/partitioners/array_writer.hpp"

#include <xxhash.h>

#include <new>

namespace graphmill {

struct array_writer::hash {
  hash() : state(XXH3_createState()) {
    if (state == nullptr)
      throw std::bad_alloc{};
    XXH3_128bits_reset(state);
  }
  ~hash() { XXH3_freeState(state); }
  hash(const hash&) = delete;
  hash& operator=(const hash&) = delete;

  XXH3_state_t* state;
};

array_writer::array_writer(std::size_t buffer_bytes)
  : hash_(std::make_unique<hash>()), buffer_bytes_(buffer_bytes) {}
array_writer::array_writer(array_writer&&) noexcept = default;
array_writer& array_writer::operator=(array_writer&&) noexcept = default;
array_writer::~array_writer() = default;

result<void> array_writer::begin(const std::filesystem::path& path, dtype type,
                                 const std::vector<std::int64_t>& row_shape) {
  TRY(out_, npy_writer::create(path, type, row_shape));
  return ok();
}

result<void> array_writer::flush() {
  XXH3_128bits_update(hash_->state, pending_.data(), pending_.size());
  TRYV(out_->append_bytes(pending_));
  pending_.clear();
  return ok();
}

result<void> array_writer::finish() {
  TRYV(flush());
  TRYV(out_->finish());
  out_.reset();
  return ok();
}

std::string array_writer::digest() const {
  const auto value = XXH3_128bits_digest(hash_->state);
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

} // namespace graphmill
