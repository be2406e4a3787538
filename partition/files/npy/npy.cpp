#include "partition/files/npy/npy.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/npy/npy_header.hpp"

#include <fcntl.h>

#include <algorithm>
#include <limits>

namespace graphmill {

namespace fs = std::filesystem;

// -- reading

result<npy_array> npy_array::open(const fs::path& path) {
  return open_as(path, false);
}

result<npy_array> npy_array::open_any(const fs::path& path) {
  return open_as(path, true);
}

result<npy_array> npy_array::open_as(const fs::path& path, bool any) {
  npy_array array;
  GRAPHMILL_TRY(array.file_, mapped_file::open(path));
  auto header = parse_npy_header(array.file_.bytes(), any);
  if (!header)
    return fail(header.error().code, "cannot use {}: {}", path.string(),
                header.error().message);
  array.path_ = path;
  array.type_ = header.value().type;
  array.shape_ = std::move(header.value().shape);
  array.size_ = header.value().size;
  array.columns_first_ = header.value().columns_first;
  array.data_ = array.file_.bytes().data() + header.value().data_offset;
  return array;
}

std::vector<std::int64_t> npy_array::row_shape() const {
  return {shape_.begin() + (shape_.empty() ? 0 : 1), shape_.end()};
}

std::size_t npy_array::row_bytes() const {
  auto bytes = size_of(type_);
  for (const auto extent : row_shape())
    bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

result<void> npy_array::expect_type(dtype wanted) const {
  if (type_ != wanted)
    return fail(ec::invalid_data, "{} holds {}; {} expected", path_.string(),
                to_string(type_), to_string(wanted));
  return ok();
}

result<void>
npy_array::expect_shape(const std::vector<std::int64_t>& wanted) const {
  const auto fits = std::ranges::equal(
    shape_, wanted, [](std::int64_t extent, std::int64_t bound) {
      return bound == -1 || extent == bound;
    });
  if (fits)
    return ok();
  const auto text = [](const std::vector<std::int64_t>& shape) {
    std::string listed;
    for (auto extent : shape)
      listed += fmt::format("{}{}", listed.empty() ? "" : ", ",
                            extent == -1 ? "any" : std::to_string(extent));
    return listed;
  };
  return fail(ec::invalid_data, "{} has the shape [{}]; [{}] expected",
              path_.string(), text(shape_), text(wanted));
}

// -- writing

namespace {

/// Files are written in whole blocks of the size of a large page, at multiples
/// of it. File systems with large folios then keep each in one piece, and a
/// mapping of the file has one entry for it in place of 512.
constexpr std::size_t large_block = std::size_t{2} << 20;
/// Blocks ahead of the first multiple, where the header is, are smaller, so
/// that small files take little memory.
constexpr std::size_t small_block = std::size_t{1} << 18;

/// The size of blocks around byte `at` of a file.
std::size_t block_at(std::uint64_t at) {
  return at < large_block ? small_block : large_block;
}

} // namespace

struct npy_writer::impl {
  fs::path path;
  unique_fd file;
  dtype type = dtype::float32;
  std::vector<std::int64_t> shape; ///< [0] is filled in at the end.
  std::size_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::vector<std::byte> pending; ///< The end of what has been appended.
  result<void> sound;             ///< The first failure, if there was one.

  result<void> flush() {
    GRAPHMILL_TRYV(write_all(file.get(), pending, path));
    pending.clear();
    return ok();
  }
  result<void> append(std::span<const std::byte> bytes);
  result<void> finish();
};

npy_writer::npy_writer() : impl_(std::make_unique<impl>()) {}
npy_writer::npy_writer(npy_writer&&) noexcept = default;
npy_writer& npy_writer::operator=(npy_writer&&) noexcept = default;
npy_writer::~npy_writer() = default;

result<npy_writer> npy_writer::create(const fs::path& path, dtype type,
                                      std::vector<std::int64_t> row_shape) {
  npy_writer writer;
  auto& self = *writer.impl_;
  self.path = path;
  self.type = type;
  self.shape = std::move(row_shape);
  // The longest number of rows, so that the final header fits in its place.
  self.shape.insert(self.shape.begin(),
                    std::numeric_limits<std::int64_t>::max());
  const auto header = format_npy_header(type, self.shape);
  self.header_bytes = header.size();
  GRAPHMILL_TRY(self.file, open_file(path, O_RDWR | O_CREAT | O_TRUNC));
  GRAPHMILL_TRYV(
    write_all(self.file.get(), std::as_bytes(std::span{header}), path));
  return writer;
}

result<void> npy_writer::append_bytes(std::span<const std::byte> bytes) {
  if (impl_->sound)
    impl_->sound = impl_->append(bytes);
  return impl_->sound;
}

result<void> npy_writer::impl::append(std::span<const std::byte> bytes) {
  if (bytes.size() % size_of(type) != 0)
    return fail(ec::internal, "{}: {} bytes are no multiple of a {}",
                path.string(), bytes.size(), to_string(type));
  while (!bytes.empty()) {
    const auto at = header_bytes + data_bytes;
    const auto room = block_at(at) - at % block_at(at);
    const auto end = at + bytes.size();
    const auto last = end - end % block_at(end);
    const auto whole = pending.empty() && last > at;
    const auto some =
      bytes.first(whole ? last - at : std::min(room, bytes.size()));
    data_bytes += some.size();
    bytes = bytes.subspan(some.size());
    if (whole) {
      GRAPHMILL_TRYV(write_all(file.get(), some, path));
      continue;
    }
    if (pending.empty())
      pending.reserve(room);
    pending.insert(pending.end(), some.begin(), some.end());
    if (some.size() == room)
      GRAPHMILL_TRYV(flush());
  }
  return ok();
}

result<void> npy_writer::finish() {
  if (impl_->sound)
    impl_->sound = impl_->finish();
  return impl_->sound;
}

result<void> npy_writer::impl::finish() {
  GRAPHMILL_TRYV(flush());
  std::uint64_t row = size_of(type);
  for (std::size_t i = 1; i < shape.size(); ++i)
    row *= static_cast<std::uint64_t>(shape[i]);
  if (row != 0 && data_bytes % row != 0)
    return fail(ec::internal, "{}: {} bytes are no multiple of a row of {}",
                path.string(), data_bytes, row);
  shape[0] = row == 0 ? 0 : static_cast<std::int64_t>(data_bytes / row);
  const auto header = format_npy_header(type, shape, header_bytes);
  GRAPHMILL_TRYV(
    write_at(file.get(), std::as_bytes(std::span{header}), 0, path));
  file.reset();
  return ok();
}

result<void> write_npy_bytes(const fs::path& path, dtype type,
                             const std::vector<std::int64_t>& shape,
                             std::span<const std::byte> bytes) {
  GRAPHMILL_TRY(auto file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  return write_npy_bytes(file.get(), path, type, shape, bytes);
}

result<void> write_npy_bytes(int fd, const fs::path& path, dtype type,
                             const std::vector<std::int64_t>& shape,
                             std::span<const std::byte> bytes) {
  std::size_t expected = size_of(type);
  for (auto extent : shape)
    expected *= static_cast<std::size_t>(extent);
  if (bytes.size() != expected)
    return fail(ec::internal, "{}: {} bytes given for a shape of {}",
                path.string(), bytes.size(), expected);
  const auto header = format_npy_header(type, shape);
  GRAPHMILL_TRYV(write_all(fd, std::as_bytes(std::span{header}), path));
  return write_all(fd, bytes, path);
}

} // namespace graphmill
