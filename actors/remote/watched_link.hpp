#pragma once

#include "pipelines/gradients/messages/rank_link.hpp"

#include <memory>

namespace graphmill {

/// A link that says that its thread is at the moment `exchange` (`now_at`)
/// before it sends a piece of gradients.
std::shared_ptr<rank_link> watched_link(std::shared_ptr<rank_link> link);

} // namespace graphmill
