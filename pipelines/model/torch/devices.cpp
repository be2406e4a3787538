#include "pipelines/model/torch/devices.hpp"

namespace graphmill {

std::string device_of(const std::string& device, std::size_t nth,
                      std::uint32_t count) {
  return device == "cuda" && count > 0 ? fmt::format("cuda:{}", nth % count)
                                       : device;
}

} // namespace graphmill
