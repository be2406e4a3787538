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

array_writer::array_writer() : hash_(std::make_unique<hash>()) {}
array_writer::array_writer(array_writer&&) noexcept = default;
array_writer& array_writer::operator=(array_writer&&) noexcept = default;
array_writer::~array_writer() = default;

result<void> array_writer::flush(npy_writer& out,
                                 std::vector<std::byte>& block) {
  XXH3_128bits_update(hash_->state, block.data(), block.size());
  TRYV(out.append_bytes(block));
  block.clear();
  return ok();
}

std::string array_writer::digest() const {
  const auto value = XXH3_128bits_digest(hash_->state);
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

} // namespace graphmill
