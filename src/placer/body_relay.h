#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/chunk_decoder.h"
#include "placer/channel.h"

// Bodies on their way from one connection to the other, where they lie.
namespace sluice::placer {

// What waits to be written to a connection, in this order. `data` lies in the buffer of the connection that
// it was read from, which must not read before it is gone.
struct Outgoing {
  std::string head;
  std::string_view data;
  std::string tail;
  std::size_t head_sent = 0, tail_sent = 0;

  bool empty() const noexcept { return head_sent == head.size() && data.empty() && tail_sent == tail.size(); }
  void clear() noexcept;
  // Moves the head in front of the data, in the buffer of `from`, so that both go out in one write.
  void join_head(Channel& from);
};

enum class Flush : std::uint8_t { Done, Blocked, Failed };
// Writes as much as goes out now; `written` is raised by what did. Failed: the connection takes nothing any
// more.
Flush flush(Outgoing& out, Channel& to, std::uint64_t& written);

// The steps below take what `from` has unread and make `out`, which is empty but perhaps for its head, ready
// with it.

// At most `left` bytes as they are; lowers `left`.
void relay_plain(Channel& from, std::uint64_t& left, Outgoing& out);
// All of it as one chunk.
void relay_as_chunk(Channel& from, Outgoing& out);
// Takes the chunked coding off; with Recode::Chunked it is put on anew, one chunk for all that has come, so
// that the sender's own framing goes no further. `pieces` is scratch; `body_bytes` is raised. Done: the end
// of the body is in `out`.
enum class Recode : std::uint8_t { Chunked, Raw };
http::ChunkDecoder::State relay_chunked(Channel& from, http::ChunkDecoder& decoder, Recode recode,
                                        std::vector<std::string_view>& pieces, std::uint64_t& body_bytes,
                                        Outgoing& out);

}  // namespace sluice::placer
