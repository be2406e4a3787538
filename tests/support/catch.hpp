#pragma once

// Catch2 with prefixed macros (CATCH_REQUIRE, ...), for libtorch pulls in glog,
// whose CHECK would collide.
#define CATCH_CONFIG_PREFIX_ALL
#if __has_include(<catch2/catch.hpp>)
#  include <catch2/catch.hpp>
#else
#  include <catch2/catch_all.hpp>
#endif
