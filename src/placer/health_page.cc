#include "placer/health_page.h"

#include <array>
#include <vector>

#include "base/error.h"
#include "http/chunk_decoder.h"
#include "http/head.h"

namespace sluice::placer {
namespace {

Error malformed() {
  return Error(std::make_error_code(std::errc::bad_message), Side::Server);
}

// Appends what comes next. False at the other side's end.
asio::awaitable<Result<bool>> read_more(net::Stream& stream, std::string& text) {
  std::array<std::byte, 4096> room{};
  if (text.size() > kHealthPageBytesMax) co_return Error(BaseErrc::LimitReached, Side::Server);
  const auto count = co_await stream.read_some(room);
  if (!count && count.error().code == BaseErrc::Closed) co_return false;
  if (!count) co_return count.error();
  text.append(as_text(ByteView(room).first(*count)));
  co_return true;
}

// The body in `text`, whose front is there already, to its end. What follows it stays.
asio::awaitable<Result<void>> skip_body(net::Stream& stream, std::string& text,
                                        const http::ResponseHead& head) {
  std::uint64_t left = head.content_length;
  http::ChunkDecoder decoder;
  std::vector<std::string_view> pieces;
  while (true) {
    switch (http::body_framing(head, http::Method::Get)) {
      case http::Framing::None:
        co_return Result<void>();
      case http::Framing::Length: {
        const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(left, text.size()));
        text.erase(0, count);
        left -= count;
        if (left == 0) co_return Result<void>();
        break;
      }
      case http::Framing::Chunked: {
        std::size_t taken = 0;
        const auto state = decoder.feed(text, taken, pieces);
        text.erase(0, taken);
        if (state == http::ChunkDecoder::State::Done) co_return Result<void>();
        if (state == http::ChunkDecoder::State::Broken) co_return malformed();
        break;
      }
      case http::Framing::UntilClose:
        text.clear();
        break;
    }
    const auto more = co_await read_more(stream, text);
    if (!more) co_return more.error();
    if (*more) continue;
    if (head.framing == http::Framing::UntilClose) co_return Result<void>();
    co_return Error(BaseErrc::Closed, Side::Server);
  }
}

}  // namespace

asio::awaitable<Result<HealthAnswer>> ask(net::Stream& stream, std::string request) {
  const auto written = co_await stream.write_all(as_bytes(request));
  if (!written) co_return written.error();
  std::string text;
  std::size_t searched = 0;
  http::ResponseHead head;
  while (true) {
    const http::HeadEnd end = http::find_head_end(text, searched);
    if (end.result == http::HeadSearch::BareLineFeed) co_return malformed();
    if (end.result == http::HeadSearch::NeedMore) {
      const auto more = co_await read_more(stream, text);
      if (!more) co_return more.error();
      if (!*more) co_return Error(BaseErrc::Closed, Side::Server);
      continue;
    }
    if (http::parse_response(std::string_view(text).substr(0, end.bytes), {}, head)) co_return malformed();
    text.erase(0, end.bytes);
    searched = 0;
    // Informational answers come before the one that counts.
    if (head.status >= 200) break;
  }
  const auto skipped = co_await skip_body(stream, text, head);
  if (!skipped) co_return skipped.error();
  HealthAnswer answer;
  answer.status = head.status;
  answer.keep_alive = head.keep_alive && text.empty() && head.framing != http::Framing::UntilClose;
  co_return answer;
}

}  // namespace sluice::placer
