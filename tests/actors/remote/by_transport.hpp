#pragma once

namespace graphmill::test {

/// Whether connections made from now on by `connector_of` have keys.
void use_keys(bool on);

} // namespace graphmill::test
