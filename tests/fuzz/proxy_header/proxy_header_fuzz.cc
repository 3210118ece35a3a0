#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "protocol/proxy_header.h"
#include "tests/fuzz/fuzz_input.h"

using namespace sluice;
using namespace sluice::protocol;

namespace {

// What is read can be written, and is read again as the same.
void write_and_read_again(const ProxyHeader& header) {
  if (header.command == ProxyHeader::Command::Local) return;
  Bytes bytes;
  append_proxy_v2(bytes, header.source, header.destination);
  ProxyHeaderDecoder again;
  const auto taken = again.feed(bytes);
  SLUICE_ASSERT(taken && *taken == bytes.size() && again.done());
  SLUICE_ASSERT(again.header() == header);
  Bytes line;
  append_proxy_v1(line, header.source, header.destination);
  SLUICE_ASSERT(line.size() <= kProxyV1BytesMax);
}

}  // namespace

// The first byte says how the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t piece = std::size_t{input.byte()} + 1;
  ProxyHeaderDecoder decoder;
  std::size_t total = 0;
  while (!input.empty() && !decoder.done()) {
    const ByteView part = input.take(piece);
    const auto taken = decoder.feed(part);
    if (!taken) return 0;
    SLUICE_ASSERT(*taken == part.size() || decoder.done());
    total += *taken;
  }
  SLUICE_ASSERT(total <= kProxyV2HeaderBytes + kProxyV2BodyBytesMax);
  if (decoder.done()) write_and_read_again(decoder.header());
  return 0;
}
