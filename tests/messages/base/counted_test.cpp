#include "messages/base/counted.hpp"

#include "tests/support/catch.hpp"

using graphmill::counted;

CATCH_TEST_CASE("one of a thing is not several", "[messages]") {
  CATCH_CHECK(counted(0, "epoch") == "0 epochs");
  CATCH_CHECK(counted(1, "epoch") == "1 epoch");
  CATCH_CHECK(counted(2u, "batch", "batches") == "2 batches");
  CATCH_CHECK(counted(1u, "batch", "batches") == "1 batch");
}
