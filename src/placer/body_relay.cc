#include "placer/body_relay.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/assert.h"

namespace sluice::placer {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Writes "<size in hex>\r\n" in front of `data`, where there is room, and gives both.
std::string_view with_chunk_size(std::string_view data) {
  std::array<char, 18> digits{};
  char* end = std::to_chars(digits.data(), digits.data() + 16, data.size(), 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  const auto size = static_cast<std::size_t>(end - digits.data());
  char* front = const_cast<char*>(data.data()) - size;
  std::memcpy(front, digits.data(), size);
  return {front, data.size() + size};
}

}  // namespace

void Outgoing::clear() noexcept {
  head.clear();
  tail.clear();
  data = {};
  head_sent = tail_sent = 0;
}

void Outgoing::join_head(Channel& from) {
  if (data.empty() || head.empty() || head_sent > 0 || from.room_before(data.data()) < head.size()) return;
  char* front = const_cast<char*>(data.data()) - head.size();
  std::memcpy(front, head.data(), head.size());
  data = {front, data.size() + head.size()};
  head.clear();
}

Flush flush(Outgoing& out, Channel& to, std::uint64_t& written) {
  while (true) {
    const std::string_view head = std::string_view(out.head).substr(out.head_sent);
    const std::string_view tail = std::string_view(out.tail).substr(out.tail_sent);
    const std::string_view next = !head.empty() ? head : !out.data.empty() ? out.data : tail;
    if (next.empty()) return Flush::Done;
    const net::IoOutcome outcome = to.write(next);
    if (outcome.status == net::IoStatus::WouldBlock) return Flush::Blocked;
    if (outcome.status != net::IoStatus::Ok) return Flush::Failed;
    written += outcome.bytes;
    if (!head.empty()) {
      out.head_sent += outcome.bytes;
    } else if (!out.data.empty()) {
      out.data.remove_prefix(outcome.bytes);
    } else {
      out.tail_sent += outcome.bytes;
    }
  }
}

void relay_plain(Channel& from, std::uint64_t& left, Outgoing& out) {
  const std::string_view unread = from.unread_text();
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(unread.size(), left));
  out.data = unread.substr(0, count);
  from.take(count);
  left -= count;
}

void relay_as_chunk(Channel& from, Outgoing& out) {
  const std::string_view unread = from.unread_text();
  if (unread.empty()) return;
  from.take(unread.size());
  // Behind the last byte read there is always room.
  std::memcpy(const_cast<char*>(unread.data()) + unread.size(), kLineEnd.data(), kLineEnd.size());
  const std::string_view sized = with_chunk_size(unread);
  out.data = {sized.data(), sized.size() + kLineEnd.size()};
}

http::ChunkDecoder::State relay_chunked(Channel& from, http::ChunkDecoder& decoder, Recode recode,
                                        std::vector<std::string_view>& pieces, std::uint64_t& body_bytes,
                                        Outgoing& out) {
  using State = http::ChunkDecoder::State;
  std::size_t taken = 0;
  const State state = decoder.feed(from.unread_text(), taken, pieces);
  if (state == State::Broken) return state;
  // The pieces are pushed together: each lies behind the one before it.
  std::string_view data;
  for (const std::string_view piece : pieces) {
    if (data.empty()) {
      data = piece;
      continue;
    }
    std::memmove(const_cast<char*>(data.data()) + data.size(), piece.data(), piece.size());
    data = {data.data(), data.size() + piece.size()};
  }
  from.take(taken);
  body_bytes += data.size();
  if (recode == Recode::Raw) {
    out.data = data;
    return state;
  }
  std::size_t ending = 0;
  if (state == State::Done) {
    out.tail.append("0\r\n").append(decoder.trailers()).append(kLineEnd);
    ending = out.tail.size();
  }
  if (data.empty()) return state;
  std::string_view sized = with_chunk_size(data);
  char* behind = const_cast<char*>(data.data()) + data.size();
  // What the decoder left, a part of the next chunk's line, may lie right behind the data: it makes room.
  from.move_unread_behind(behind + kLineEnd.size());
  std::memcpy(behind, kLineEnd.data(), kLineEnd.size());
  sized = {sized.data(), sized.size() + kLineEnd.size()};
  behind += kLineEnd.size();
  if (ending > 0 && from.room_behind(behind) >= ending) {
    std::memcpy(behind, out.tail.data(), ending);
    sized = {sized.data(), sized.size() + ending};
    out.tail.clear();
  }
  out.data = sized;
  return state;
}

}  // namespace sluice::placer
