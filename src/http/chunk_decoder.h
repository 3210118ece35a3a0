#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::http {

// Takes the chunked coding off a body (RFC 9112, section 7.1), wherever the bytes are cut. Boost.Beast's
// parser does the work. Pure. Shape:  a chunk's line, with its extensions, is at most kLineBytesMax long, the
// trailers kTrailerBytesMax together. Errors: Broken; the decoder and its connection are then of no further
// use.
class ChunkDecoder {
 public:
  static constexpr std::size_t kLineBytesMax = 4096;
  static constexpr std::size_t kTrailerBytesMax = 8192;

  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  // For the next body.
  void reset();

  enum class State : std::uint8_t { More, Done, Broken };
  // Takes bytes off the front; what it leaves is to come again in front of what follows. `pieces`, which is
  // emptied first, gets the views of the body's data in them, none empty. `taken` of Done ends where the body
  // ends.
  State feed(std::string_view bytes, std::size_t& taken, std::vector<std::string_view>& pieces);

  // After Done: the trailer lines that may be passed on, each with its CR LF. Those that frame, route or
  // authenticate a message are left out: whoever takes trailers for headers must not find them.
  const std::string& trailers() const noexcept { return trailers_; }

 private:
  struct Parser;
  State take_trailers(std::string_view bytes, std::size_t& taken);

  std::unique_ptr<Parser> parser_;
  std::string trailers_;
};

}  // namespace sluice::http
