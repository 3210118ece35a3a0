#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "profile/json.h"
#include "profile/read_profile.h"
#include "profile/report.h"

namespace {

using namespace sluice;
using namespace sluice::profile;

constexpr Moment kNow{std::chrono::hours(1)};

// Whoever gets contents may use them: consistent, printable, and the same again through JSON. Whether the
// writer lives may change once, where its heartbeat is rounded.
void use(const Profile& profile) {
  SLUICE_ASSERT(is_consistent(profile.contents));
  (void)report(profile, kNow);
  const std::string json = to_json(profile, kNow);
  const auto again = from_json(json, kNow);
  SLUICE_ASSERT(again.has_value());
  SLUICE_ASSERT(is_consistent(again->contents));
  SLUICE_ASSERT(again->contents.hosts.size() == profile.contents.hosts.size());
  SLUICE_ASSERT(to_json({profile.publication, again->contents}, kNow) == json);
  const std::string rounded = to_json(*again, kNow);
  const auto once_more = from_json(rounded, kNow);
  SLUICE_ASSERT(once_more.has_value() && to_json(*once_more, kNow) == rounded);
}

}  // namespace

// Text that begins like JSON is a router's answer, anything else a segment.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0 && (data[0] == '{' || data[0] == '[')) {
    if (const auto profile = from_json({reinterpret_cast<const char*>(data), size}, kNow)) use(*profile);
    return 0;
  }
  std::vector<std::uint64_t> words(size / 8 + 1);
  if (size > 0) std::memcpy(words.data(), data, size);
  const auto memory = std::as_bytes(std::span(words)).first(size);
  const auto header = read_header(memory, size);
  if (!header) return 0;
  MappedRecords records(memory);
  if (const auto profile = read_profile(records, *header)) use(*profile);
  return 0;
}
