#include "partition/partitioners/graph/monitor.hpp"

#include <fstream>

namespace graphmill {

std::uint64_t memory_in_use() {
  // VmRSS would count pages of mapped files, too, which the kernel takes back
  // when somebody needs the memory.
  std::ifstream status{"/proc/self/status"};
  std::uint64_t sum = 0;
  for (std::string key; status >> key; status.ignore(4096, '\n'))
    if (std::uint64_t kib = 0;
        (key == "RssAnon:" || key == "RssShmem:") && status >> kib)
      sum += kib << 10;
  return sum;
}

} // namespace graphmill
