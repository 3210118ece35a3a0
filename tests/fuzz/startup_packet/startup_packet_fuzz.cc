#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "protocol/startup_options.h"
#include "protocol/startup_packet.h"

using namespace sluice;
using namespace sluice::protocol;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kStartupBytesMax) return 0;
  Bytes out;
  auto outcome = parse_startup_packet(std::as_bytes(std::span(data, size)), {}, out);
  if (const auto* refused = std::get_if<StartupRefusal>(&outcome)) {
    append_refusal(out, *refused);
    return 0;
  }
  auto& packet = *std::get_if<StartupPacket>(&outcome);
  if (const auto* cancel = std::get_if<CancelRequest>(&packet))
    SLUICE_ASSERT(cancel->secret.size() >= kCancelSecretBytesMin &&
                  cancel->secret.size() <= kCancelSecretBytesMax);
  auto* startup = std::get_if<StartupMessage>(&packet);
  if (startup == nullptr) return 0;
  SLUICE_ASSERT(!startup->user.empty() && !startup->database.empty());
  SLUICE_ASSERT(startup->user.size() <= kNameBytesMax && startup->database.size() <= kNameBytesMax);
  const bool negotiates =
      startup->minor_granted != startup->minor_requested || !startup->protocol_options.empty();
  SLUICE_ASSERT(out.empty() != negotiates);
  const std::size_t before = option_settings(startup->options).size();
  const std::size_t length_before = startup->options.size();
  (void)take_sluice_options(*startup);
  // Whatever was taken out, nothing of ours is left and nothing was added.
  SLUICE_ASSERT(option_settings(startup->options).size() <= before);
  SLUICE_ASSERT(startup->options.size() <= length_before);
  const SluiceOptions again = take_sluice_options(*startup);
  SLUICE_ASSERT(!again.priority && !again.host && !again.target && !again.size && again.unknown.empty());
  return 0;
}
