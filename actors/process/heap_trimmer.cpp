#include "actors/process/heap_trimmer.hpp"

#include <malloc.h>

namespace graphmill {

bool heap_trimmer::tick(clock::time_point now) {
  if (now < due_)
    return false;
  ::malloc_trim(0);
  due_ = now + interval;
  return true;
}

} // namespace graphmill
