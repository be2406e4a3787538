#include "actors/cluster/coordinator/runs/begun_array.hpp"

#include "partition/files/npy/npy_header.hpp"

#include <utility>

namespace graphmill {

result<begun_array> begun_array::create(const std::filesystem::path& path,
                                        dtype type,
                                        std::span<const std::int64_t> shape) {
  GRAPHMILL_TRY(auto file, scratch_file::create(path, file_access::owner));
  const auto header = format_npy_header(type, shape);
  GRAPHMILL_TRYV(
    write_all(file.fd(), std::as_bytes(std::span{header.data(), header.size()}),
              file.path()));
  return begun_array{std::move(file), header.size()};
}

result<void> begun_array::write(std::uint64_t offset,
                                std::span<const std::byte> elements) const {
  return write_at(file_.fd(), elements, at_ + offset, file_.path());
}

} // namespace graphmill
