// Input: the limit of a body, the size of the pieces, then the stream.
#include "base/assert.h"
#include "protocol/frame_decoder.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::fuzz::Input input(data, size);
  const std::uint32_t body_bytes_max = input.byte();
  const std::size_t piece_bytes = input.byte() + 1u;
  sluice::protocol::FrameDecoder decoder(body_bytes_max);
  bool dead = false;
  while (!input.empty()) {
    sluice::fuzz::feed(decoder, input.take(piece_bytes));
    while (true) {
      const auto frame = decoder.next();
      SLUICE_ASSERT(decoder.check_invariant());
      SLUICE_ASSERT(!dead || !frame);
      dead = !frame;
      if (!frame || !*frame) break;
      SLUICE_ASSERT((*frame)->body.size() <= body_bytes_max);
    }
    SLUICE_ASSERT(dead || decoder.unread().size() <= body_bytes_max + 5u);
  }
  return 0;
}
