#include "messages/base/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace graphmill {

namespace {

constexpr std::array<std::string_view, 15> names{
  "none",    "invalid_argument", "invalid_data",     "not_found",
  "io",      "no_space",         "permission",       "out_of_memory",
  "timeout", "cancelled",        "version_mismatch", "unavailable",
  "crashed", "internal",         "superseded",
};

static_assert(names.size() == static_cast<std::size_t>(ec::superseded) + 1);

ec code_of(int error_number) {
  switch (error_number) {
  case ENOENT:
  case ENOTDIR:
    return ec::not_found;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return ec::no_space;
  case EACCES:
  case EPERM:
  case EROFS:
    return ec::permission;
  case ENOMEM:
    return ec::out_of_memory;
  default:
    return ec::io;
  }
}

} // namespace

std::string_view to_string(ec code) {
  auto index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "unknown";
}

std::string to_string(const error& reason) {
  return fmt::format("{} [{}]", reason.message, to_string(reason.code));
}

error errno_error(std::string text, int error_number) {
  text += ": ";
  text += std::strerror(error_number);
  return error{code_of(error_number), std::move(text)};
}

} // namespace graphmill
