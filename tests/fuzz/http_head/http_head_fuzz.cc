// A head from anybody: found at the same place however it is cut, judged without a crash, and what is passed
// on of it is a head that is judged the same again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "http/head.h"
#include "placer/forward_head.h"
#include "placer/route_table.h"

namespace sluice {
namespace {

void forward(const http::RequestHead& head) {
  placer::ForwardPolicy policy;
  policy.via = "sluice";
  policy.forwarded = true;
  policy.upgrades = {"websocket"};
  std::string out;
  Rng rng(1);
  placer::RequestIds ids;
  placer::append_request_head(out, head, policy, {"10.0.0.1", true, false},
                              placer::allowed_upgrade(head, policy), rng, ids);
  http::RequestHead again;
  http::HeadLimits limits;
  limits.bytes = 1 << 20;
  limits.fields = 10'000;
  const bool hostless = head.host.empty();  // of HTTP/1.0; an empty Host is what stands for it
  const http::Refusal refusal = http::parse_request(out, limits, again);
  SLUICE_ASSERT(hostless || !refusal);
  if (refusal) return;
  SLUICE_ASSERT(again.framing == head.framing && again.content_length == head.content_length);
  SLUICE_ASSERT(again.method_name == head.method_name && again.target == head.target &&
                again.host == head.host);
  std::string scratch;
  (void)placer::normal_path(head.path, scratch);
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::size_t whole = 0;
  const http::HeadEnd end = http::find_head_end(bytes, whole);
  std::size_t stepwise = 0;
  http::HeadEnd found;
  for (std::size_t part = 0; part <= size && found.result == http::HeadSearch::NeedMore; ++part)
    found = http::find_head_end(bytes.substr(0, part), stepwise);
  SLUICE_ASSERT(found.result == end.result && found.bytes == end.bytes);
  if (end.result != http::HeadSearch::Found) return 0;
  http::RequestHead request;
  if (!http::parse_request(bytes.substr(0, end.bytes), {}, request)) forward(request);
  http::ResponseHead response;
  if (!http::parse_response(bytes.substr(0, end.bytes), {}, response)) {
    std::string out;
    placer::append_response_head(out, response, {}, {placer::BodyOut::Chunked, true, 1, "a"});
  }
  return 0;
}
