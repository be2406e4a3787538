#pragma once

#include "messages/definition/definition_words.hpp"

namespace graphmill {

/// As users write it: "distmult".
constexpr const char* to_string(decoder_kind which) {
  switch (which) {
  case decoder_kind::dot:
    return "dot";
  case decoder_kind::cosine:
    return "cosine";
  case decoder_kind::distmult:
    return "distmult";
  case decoder_kind::complex:
    return "complex";
  case decoder_kind::transe:
    return "transe";
  case decoder_kind::rotate:
    return "rotate";
  case decoder_kind::bilinear:
    return "bilinear";
  case decoder_kind::mlp:
    return "mlp";
  }
  return "";
}

/// Whether outputs are pairs of halves, so that they must be of even width.
constexpr bool needs_halves(decoder_kind which) {
  return which == decoder_kind::complex || which == decoder_kind::rotate;
}

} // namespace graphmill
