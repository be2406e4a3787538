#include "partition/partitioners/array_writer.hpp"

namespace graphmill {

result<void> array_writer::begin(const std::filesystem::path& path, dtype type,
                                 const std::vector<std::int64_t>& row_shape) {
  GRAPHMILL_TRY(out_, npy_writer::create(path, type, row_shape));
  path_ = path;
  own_ = content_hash{};
  return ok();
}

result<void> array_writer::flush() {
  all_.update(pending_);
  own_.update(pending_);
  GRAPHMILL_TRYV(out_->append_bytes(pending_));
  pending_.clear();
  return ok();
}

result<void> array_writer::finish() {
  GRAPHMILL_TRYV(flush());
  GRAPHMILL_TRYV(out_->finish());
  out_.reset();
  digests_.emplace_back(path_, own_.digest());
  return ok();
}

std::map<std::string, std::string>
array_writer::digests_within(const std::filesystem::path& folder) const {
  std::map<std::string, std::string> out;
  for (const auto& [path, digest] : digests_)
    out[path.lexically_relative(folder).string()] = digest;
  return out;
}

} // namespace graphmill
