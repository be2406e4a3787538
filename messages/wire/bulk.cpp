#include "messages/wire/bulk.hpp"

#include <cstring>
#include <utility>

namespace graphmill {

namespace {

/// Smaller arrays are cheaper to copy than to send as frames of their own.
constexpr std::size_t least_frame = std::size_t{64} << 10;

/// Once there are this many frames, arrays that fit into one are copied to
/// shared frames, whatever their size. A new shared frame is begun only when an
/// array does not fit into the last one, so two in a row hold more than 1 MiB,
/// and there are never more frames than a message may have.
constexpr std::size_t many_frames = 16;
static_assert(many_frames
                + 2 * (max_bulk_bytes - many_frames * least_frame)
                    / max_frame_bytes
                + 1
              <= max_bulk_frames);

constexpr std::size_t array_alignment = 8; ///< Of an array in its frame.

/// Calls `visit` with a value of the C++ type of a whole number's element.
template <class Visit>
void with_integer(element type, Visit visit) {
  switch (type) {
  case element::uint8:
    return visit(std::uint8_t{});
  case element::uint16:
    return visit(std::uint16_t{});
  case element::int32:
    return visit(std::int32_t{});
  default:
    return visit(std::int64_t{});
  }
}

} // namespace

std::size_t element_size(element type) {
  switch (type) {
  case element::uint8:
    return 1;
  case element::uint16:
  case element::float16:
    return 2;
  case element::int32:
  case element::float32:
    return 4;
  case element::int64:
    return 8;
  case element::unset:
    break;
  }
  return 0;
}

// -- writing

bulk_array bulk_writer::add(element type, std::span<const std::byte> values,
                            std::shared_ptr<const void> owner) {
  bulk_array place{type, values.size() / element_size(type)};
  bytes_ += values.size();
  const auto size = values.size();
  const auto framed = size > max_frame_bytes
                      || (size >= least_frame && frames_.size() < many_frames);
  if (framed && owner == nullptr) {
    const auto copy =
      std::make_shared<std::vector<std::byte>>(values.begin(), values.end());
    add_frames(place, *copy, copy);
  } else if (framed) {
    add_frames(place, values, owner);
  } else {
    add_to_slab(place, values);
  }
  return place;
}

void bulk_writer::add_frames(bulk_array& place,
                             std::span<const std::byte> values,
                             const std::shared_ptr<const void>& owner) {
  place.frame = static_cast<std::uint32_t>(frames_.size());
  for (std::size_t at = 0; at < values.size(); at += max_frame_bytes)
    frames_.push_back(frame::own(
      owner,
      values.subspan(at, std::min(max_frame_bytes, values.size() - at))));
}

void bulk_writer::add_to_slab(bulk_array& place,
                              std::span<const std::byte> values) {
  if (values.empty())
    return;
  const auto words = (values.size() + array_alignment - 1) / array_alignment;
  if (slabs_.empty()
      || (slabs_.back().words->size() + words) * array_alignment
           > max_frame_bytes) {
    slabs_.push_back(
      {frames_.size(), std::make_shared<std::vector<std::uint64_t>>()});
    frames_.emplace_back();
  }
  auto& [number, to] = slabs_.back();
  const auto old = to->size();
  place.frame = static_cast<std::uint32_t>(number);
  place.offset = static_cast<std::uint32_t>(old * array_alignment);
  to->resize(old + words);
  std::memcpy(to->data() + old, values.data(), values.size());
}

template <class Narrow, class Wide>
bulk_array bulk_writer::add_narrow(element type, std::span<const Wide> values,
                                   std::int64_t base) {
  auto narrow = std::make_shared<std::vector<Narrow>>(values.size());
  const auto zero = static_cast<std::uint64_t>(base);
  std::transform(
    values.begin(), values.end(), narrow->begin(), [zero](Wide value) {
      return static_cast<Narrow>(static_cast<std::uint64_t>(value) - zero);
    });
  const auto bytes = std::as_bytes(std::span{*narrow});
  auto place = add(type, bytes, std::move(narrow));
  place.base = base;
  return place;
}

bulk_array bulk_writer::add_integers(std::span<const std::int64_t> values,
                                     std::shared_ptr<const void> owner) {
  if (values.empty())
    return {};
  const auto [least, greatest] =
    std::minmax_element(values.begin(), values.end());
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (*least >= 0 && *greatest <= most)
    return add_narrow<std::int32_t>(element::int32, values, 0);
  const auto range =
    static_cast<std::uint64_t>(*greatest) - static_cast<std::uint64_t>(*least);
  if (range <= static_cast<std::uint64_t>(most))
    return add_narrow<std::int32_t>(element::int32, values, *least);
  return add(element::int64, std::as_bytes(values), std::move(owner));
}

bulk_array bulk_writer::add_counts(std::span<const std::int32_t> counts,
                                   std::shared_ptr<const void> owner) {
  if (counts.empty())
    return {};
  const auto greatest = *std::max_element(counts.begin(), counts.end());
  if (greatest <= std::numeric_limits<std::uint8_t>::max())
    return add_narrow<std::uint8_t>(element::uint8, counts, 0);
  if (greatest <= std::numeric_limits<std::uint16_t>::max())
    return add_narrow<std::uint16_t>(element::uint16, counts, 0);
  return add(element::int32, std::as_bytes(counts), std::move(owner));
}

std::vector<frame> bulk_writer::take() {
  for (auto& [number, words] : slabs_) {
    const auto bytes = std::as_bytes(std::span{*words});
    frames_[number] = frame::own(std::move(words), bytes);
  }
  slabs_.clear();
  bytes_ = 0;
  return std::exchange(frames_, {});
}

// -- reading

bulk_check::bulk_check(std::span<const frame> frames) : frames_(frames) {
  for (const auto& part : frames)
    left_ += part.size();
}

result<void> bulk_check::array(const bulk_array& array) {
  if (array.type == element::unset && array.count == 0)
    return ok();
  const auto bad = [&array](std::string_view reason) {
    return fail(ec::invalid_data,
                "an array of {} elements of type {} at byte {} of frame {} {}",
                array.count, static_cast<int>(array.type), array.offset,
                array.frame, reason);
  };
  const auto width = element_size(array.type);
  if (width == 0)
    return bad("is of a type that this version does not know");
  if (!is_integer(array.type) && array.base != 0)
    return bad("has a base, but no whole numbers");
  if (array.count > left_ / width)
    return bad("claims more bytes than the message has");
  auto left = array.byte_size();
  left_ -= left;
  if (left == 0)
    return ok();
  if (array.offset % array_alignment != 0)
    return bad("is not aligned");
  if (array.frame >= frames_.size()
      || array.offset > frames_[array.frame].size())
    return bad("lies outside of the message");
  if (left <= frames_[array.frame].size() - array.offset)
    return ok();
  if (array.offset != 0)
    return bad("is longer than its frame");
  for (auto number = std::size_t{array.frame}; left != 0; ++number) {
    if (number >= frames_.size())
      return bad("ends behind the last frame");
    const auto size = frames_[number].size();
    if (left > size && size != max_frame_bytes)
      return bad("goes on behind a frame that is not full");
    left -= std::min<std::uint64_t>(left, size);
  }
  return ok();
}

void read_integers(const bulk_array& array, std::span<const frame> frames,
                   std::int64_t* out) {
  with_integer(array.type, [&array, frames, &out](auto example) {
    using stored = decltype(example);
    const auto base = static_cast<std::uint64_t>(array.base);
    for_each_piece(array, frames, [base, &out](std::span<const std::byte> in) {
      const auto count = in.size() / sizeof(stored);
      for (std::size_t i = 0; i < count; ++i) {
        stored value;
        std::memcpy(&value, in.data() + i * sizeof(stored), sizeof(stored));
        // Modulo 2^64: a base from outside may be anything.
        out[i] = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) + base);
      }
      out += count;
    });
  });
}

result<void> read_integers(const bulk_array& array,
                           std::span<const frame> frames, std::int32_t* out,
                           std::int32_t least, std::int32_t greatest) {
  auto inside = true;
  with_integer(array.type, [&](auto example) {
    using stored = decltype(example);
    const auto base = static_cast<std::uint64_t>(array.base);
    for_each_piece(array, frames, [&](std::span<const std::byte> in) {
      const auto count = in.size() / sizeof(stored);
      for (std::size_t i = 0; i < count; ++i) {
        stored value;
        std::memcpy(&value, in.data() + i * sizeof(stored), sizeof(stored));
        const auto whole = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) + base);
        inside &= whole >= least && whole <= greatest;
        out[i] = static_cast<std::int32_t>(whole);
      }
      out += count;
    });
  });
  if (!inside)
    return fail(ec::invalid_data, "a number is not in {} to {}", least,
                greatest);
  return ok();
}

void read_floats(const bulk_array& array, std::span<const frame> frames,
                 float* out) {
  for_each_piece(array, frames, [&out](std::span<const std::byte> piece) {
    std::memcpy(out, piece.data(), piece.size());
    out += piece.size() / sizeof(float);
  });
}

} // namespace graphmill
