#define CATCH_CONFIG_RUNNER // For version 2, whose header holds it all.
#include "tests/support/catch.hpp"

int main(int argc, char** argv) {
  return Catch::Session{}.run(argc, argv);
}
