// A chunked body from anybody, its first byte saying how it is cut: the same body, end and verdict as in one
// piece.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "http/chunk_decoder.h"

namespace {

using sluice::http::ChunkDecoder;

struct Outcome {
  ChunkDecoder::State state = ChunkDecoder::State::More;
  std::string body, trailers;
  std::size_t taken = 0;
};

Outcome decode(std::string_view bytes, std::size_t step) {
  ChunkDecoder decoder;
  Outcome outcome;
  std::string held;
  std::vector<std::string_view> pieces;
  while (outcome.state == ChunkDecoder::State::More && !bytes.empty()) {
    held += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    std::size_t taken = 0;
    outcome.state = decoder.feed(held, taken, pieces);
    for (const std::string_view piece : pieces)
      outcome.body += piece;
    held.erase(0, taken);
    outcome.taken += taken;
  }
  outcome.trailers = decoder.trailers();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Outcome whole = decode(bytes, bytes.size());
  const Outcome parts = decode(bytes, 1 + data[0] % 16);
  SLUICE_ASSERT((whole.state == ChunkDecoder::State::Done) == (parts.state == ChunkDecoder::State::Done));
  if (whole.state != ChunkDecoder::State::Done) return 0;
  SLUICE_ASSERT(whole.body == parts.body && whole.taken == parts.taken && whole.trailers == parts.trailers);
  return 0;
}
