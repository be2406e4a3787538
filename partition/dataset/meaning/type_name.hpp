#pragma once

#include <string>
#include <string_view>

namespace graphmill {

/// The name that a type gets for what its source calls it. It depends on
/// `original` alone, so that two datasets give the same relation the same name.
/// A text that can name a type stays as it is. Any other text becomes the
/// characters that a name may have, "--", and the first 12 hexadecimal digits
/// of the text's BLAKE2b-256. So does a text that ends in "--" and 12 such
/// digits: it cannot be mistaken for a derived name. Two texts get one name
/// only if 48 bits of their hashes are the same; importers refuse that.
/// @returns at most 76 bytes of a derived name, so that "rev_" fits before it.
std::string type_name_for(std::string_view original);

} // namespace graphmill
