#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "mirror/fetch.h"

namespace {

using sluice::mirror::ResponseReader;
using State = ResponseReader::State;

constexpr std::size_t kBodyMax = 4096;

State read(ResponseReader& reader, std::string_view bytes, std::size_t piece) {
  State state = State::More;
  for (; state == State::More && !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    state = reader.feed(bytes.substr(0, piece));
  return state == State::More ? reader.end() : state;
}

}  // namespace

// The first byte is the size of pieces: they give what the whole gives.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  ResponseReader whole(kBodyMax), pieces(kBodyMax);
  const State at_once = read(whole, bytes, std::max<std::size_t>(bytes.size(), 1));
  const State piecewise = read(pieces, bytes, data[0] + std::size_t{1});
  SLUICE_ASSERT(at_once == piecewise);
  SLUICE_ASSERT(whole.body().size() <= kBodyMax);
  if (at_once == State::Done)
    SLUICE_ASSERT(whole.body() == pieces.body() && whole.status() == pieces.status());
  return 0;
}
