#include "messages/base/pluralized.hpp"

#include "tests/support/catch.hpp"

using graphmill::pluralized;

CATCH_TEST_CASE("one of a thing is not several", "[messages]") {
  CATCH_CHECK(pluralized(0, "epoch") == "0 epochs");
  CATCH_CHECK(pluralized(1, "epoch") == "1 epoch");
  CATCH_CHECK(pluralized(2u, "batch", "batches") == "2 batches");
  CATCH_CHECK(pluralized(1u, "batch", "batches") == "1 batch");
}
