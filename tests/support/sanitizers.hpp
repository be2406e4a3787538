#pragma once

// GRAPHMILL_ADDRESS_SANITIZER is defined if the address sanitizer is compiled
// in: gcc defines a macro of its own, and Clang answers a question.

#if defined(__SANITIZE_ADDRESS__)
#  define GRAPHMILL_ADDRESS_SANITIZER
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define GRAPHMILL_ADDRESS_SANITIZER
#  endif
#endif
