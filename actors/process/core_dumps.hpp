#pragma once

namespace graphmill {

/// Makes this process leave no core dump and lets no debugger of its user
/// attach, for as long as it lives. For processes that hold a key: libzmq keeps
/// copies of it that cannot be left out of a dump one by one.
void forbid_core_dumps();

} // namespace graphmill
