#include "messages/base/caught.hpp"

#include <exception>
#include <new>
#include <system_error>

namespace graphmill {

error caught(std::string_view doing) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory, "no memory left to {}", doing);
  } catch (const std::system_error& refused) {
    auto code = ec::internal; // Of a stream, or of a library of its own.
    if (refused.code().category() == std::generic_category()
        || refused.code().category() == std::system_category())
      code = errno_error({}, refused.code().value()).code;
    return fail(code, "cannot {}: {}", doing, refused.what());
  } catch (const std::exception& thrown) {
    return fail(ec::internal, "cannot {}: {}", doing, thrown.what());
  } catch (...) {
    return fail(ec::internal, "cannot {}: an unknown exception", doing);
  }
}

} // namespace graphmill
