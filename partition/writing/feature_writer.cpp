#include "partition/writing/feature_writer.hpp"

#include "partition/files/half.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

/// The largest float16 is 65504, and the next step would be 65536: from the
/// middle between them on, values are rounded to infinity.
constexpr float half_limit = 65520.0f;

} // namespace

result<feature_writer> feature_writer::create(const std::filesystem::path& path,
                                              const node_type_info& type) {
  GRAPHMILL_TRY(auto out, npy_writer::create(path, type.feature_type,
                                             {type.feature_width}));
  return feature_writer{std::move(out), type};
}

result<void> feature_writer::append(std::span<const float> values) {
  const auto narrow = type_ == dtype::float16;
  const auto limit = narrow ? half_limit : INFINITY;
  const auto bad = std::ranges::find_if_not(
    values, [limit](float value) { return std::fabs(value) < limit; });
  const auto place = written_ + (bad - values.begin());
  if (bad != values.end())
    return fail(
      ec::invalid_data, "features of {}: node {}, column {} is {}, which {}",
      name_, place / width_, place % width_, *bad,
      std::isfinite(*bad) ? "float16 cannot hold" : "is not a finite number");
  if (place > count_ * width_)
    return fail(ec::invalid_data,
                "features of {}: more values given than {} nodes of {} columns "
                "have",
                name_, count_, width_);
  written_ = place;
  if (!narrow)
    return out_.append(values);
  halves_.resize(values.size());
  std::ranges::transform(values, halves_.begin(), to_half);
  return out_.append_bytes(std::as_bytes(std::span{halves_}));
}

result<void> feature_writer::finish() {
  if (written_ != count_ * width_)
    return fail(ec::invalid_data,
                "features of {}: {} values given; {} nodes of {} columns have "
                "{}",
                name_, written_, count_, width_, count_ * width_);
  return out_.finish();
}

} // namespace graphmill
