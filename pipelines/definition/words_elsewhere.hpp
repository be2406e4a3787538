#pragma once

#include <string_view>

namespace graphmill {

// Words of other libraries in a definition or on a command line. Case, '_' and
// '-' do not count.

/// The path of the field that has this meaning here, as in
/// "optimizer.learning_rate"; empty: there is none, or it is no such word.
std::string_view field_elsewhere(std::string_view word);

/// Why there is no such field, and what there is: a sentence without its full
/// stop. Empty: it is no such word.
std::string_view absent_elsewhere(std::string_view word);

/// What a value is called here, as in "sage" for "GraphSAGE"; empty: it is no
/// such word.
std::string_view value_elsewhere(std::string_view word);

} // namespace graphmill
