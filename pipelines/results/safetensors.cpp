#include "pipelines/results/safetensors.hpp"

#include "messages/words/byte_text.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/memory_limit.hpp"
#include "pipelines/results/safetensors_header.hpp"

#include <fcntl.h>

#include <algorithm>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t prefix_size = 8;

/// Hashed and then written at once, so that it is read from memory once.
constexpr std::size_t hashed_at_once = std::size_t{1} << 18;

std::uint64_t header_length(std::span<const std::byte> prefix) {
  std::uint64_t length = 0;
  for (std::size_t i = prefix_size; i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(prefix[i]);
  return length;
}

result<void> check_length(std::uint64_t length, std::uint64_t file_size,
                          const std::string& name) {
  if (file_size < prefix_size || length > file_size - prefix_size)
    return fail(ec::invalid_data,
                "{} is no safetensors file, or cut short: it says its header "
                "has {} bytes, and has {} in all",
                name, length, file_size);
  if (length > largest_tensor_header)
    return fail(ec::invalid_data,
                "{} has a header of {} bytes; at most {} are read", name,
                length, largest_tensor_header);
  return ok();
}

/// A file may claim any number of bytes at no cost to whoever made it: holes
/// take no room on disk.
result<void> check_room(std::uint64_t file_size, const std::string& name) {
  const auto room = memory_available();
  if (file_size <= room.bytes)
    return ok();
  return fail(ec::out_of_memory,
              "{} has {} of tensors, which are read into memory, and {} leaves "
              "{}",
              name, byte_text(file_size), room.bound, byte_text(room.bytes));
}

/// Writes a file from its beginning on, and knows what it has written.
class digesting_writer {
public:
  digesting_writer(int fd, const fs::path& path) : fd_(fd), path_(path) {}

  result<void> write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), hashed_at_once));
      hash_.update(piece);
      GRAPHMILL_TRYV(write_all(fd_, piece, path_));
      written_ += piece.size();
      bytes = bytes.subspan(piece.size());
    }
    return ok();
  }

  file_digest digest() const { return {written_, hash_.digest()}; }

private:
  const int fd_;
  const fs::path& path_;
  content_hash hash_;
  std::uint64_t written_ = 0;
};

} // namespace

result<file_digest>
write_tensors(int fd, const fs::path& path,
              std::span<const named_tensor> tensors,
              const std::map<std::string, std::string>& metadata) {
  GRAPHMILL_TRY(const auto json, format_tensor_header(tensors, metadata));
  std::string header(prefix_size, '\0');
  for (std::size_t i = 0; i < prefix_size; ++i)
    header[i] = static_cast<char>(json.size() >> (8 * i));
  header += json;
  digesting_writer out{fd, path};
  GRAPHMILL_TRYV(out.write(std::as_bytes(std::span{header})));
  for (const auto& tensor : tensors)
    GRAPHMILL_TRYV(out.write(std::as_bytes(std::span{tensor.values})));
  return out.digest();
}

result<void> write_safetensors(const fs::path& path,
                               const tensor_file& content) {
  GRAPHMILL_TRY(auto file, scratch_file::create(path, file_access::owner));
  GRAPHMILL_TRYV(
    write_tensors(file.fd(), path, content.tensors, content.metadata));
  return file.commit();
}

result<tensor_file> read_safetensors(const fs::path& path) {
  const auto name = path.string();
  for (const auto* within : {"weights.safetensors", "tensors.safetensors"})
    if (std::error_code unknown; fs::exists(path / within, unknown))
      return fail(ec::invalid_data,
                  "{} is a folder of a run or checkpoint: name the file in it, "
                  "{}",
                  name, (path / within).string());
  GRAPHMILL_TRY(auto file, open_file(path, O_RDONLY));
  GRAPHMILL_TRY(const auto size, file_size(file.get(), path));
  std::byte prefix[prefix_size] = {};
  GRAPHMILL_TRYV(read_some(file.get(), prefix, path));
  const auto length = header_length(prefix);
  GRAPHMILL_TRYV(check_length(length, size, name));
  GRAPHMILL_TRYV(check_room(size, name));
  std::string json(length, '\0');
  GRAPHMILL_TRYV(read_at(file.get(), std::as_writable_bytes(std::span{json}),
                         prefix_size, path));
  auto at = prefix_size + length;
  GRAPHMILL_TRY(auto out,
                parse_tensor_header(json, size - prefix_size - length, name));
  for (auto& tensor : out.tensors) {
    const auto bytes = std::as_writable_bytes(std::span{tensor.values});
    GRAPHMILL_TRYV(read_at(file.get(), bytes, at, path));
    at += bytes.size();
  }
  return out;
}

void weights_hash::begin(const std::string& name,
                         std::span<const std::int64_t> shape) {
  hash_.update(std::string_view{name.c_str(), name.size() + 1});
  const auto rank = std::ssize(shape);
  hash_.update(std::as_bytes(std::span{&rank, 1}));
  hash_.update(std::as_bytes(shape));
}

void weights_hash::add(std::span<const float> values) {
  hash_.update(std::as_bytes(values));
}

std::string weights_digest(std::span<const named_tensor> tensors) {
  weights_hash hash;
  for (const auto& tensor : tensors) {
    hash.begin(tensor.name, tensor.shape);
    hash.add(tensor.values);
  }
  return hash.digest();
}

} // namespace graphmill
