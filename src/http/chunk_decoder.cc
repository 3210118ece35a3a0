#include "http/chunk_decoder.h"

#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "base/assert.h"
#include "http/head.h"
#include "http/raw_check.h"

namespace sluice::http {
namespace {

namespace beast = boost::beast;
using BeastError = boost::system::error_code;

constexpr std::string_view kHead = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

bool may_be_trailer(FieldId id) noexcept {
  return id == FieldId::Other;
}

}  // namespace

// Beast judges trailers as if they were headers, and refuses a Content-Length among them. So it is stopped in
// front of the last chunk, and the trailers are taken by line.
struct ChunkDecoder::Parser {
  class Reader final : public beast::http::basic_parser<true> {
   public:
    explicit Reader(std::vector<std::string_view>*& pieces) : pieces_(pieces) {
      body_limit(boost::none);
      eager(true);
    }
    bool at_last_chunk = false;
    std::uint64_t left = 0;  // of the current chunk's data

   private:
    void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int,
                         BeastError&) override {}
    void on_response_impl(int, beast::string_view, int, BeastError&) override {}
    void on_field_impl(beast::http::field, beast::string_view, beast::string_view, BeastError&) override {}
    void on_header_impl(BeastError&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, BeastError&) override {}
    std::size_t on_body_impl(beast::string_view, BeastError&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t size, beast::string_view, BeastError& error) override {
      if (size >= std::uint64_t{1} << 62) error = beast::http::error::bad_chunk;
      left = size;
      if (size != 0) return;
      at_last_chunk = true;
      error = beast::http::error::end_of_chunk;
    }
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view data, BeastError&) override {
      if (!data.empty()) pieces_->push_back({data.data(), data.size()});
      left -= data.size();
      return data.size();
    }
    void on_finish_impl(BeastError&) override {}

    std::vector<std::string_view>*& pieces_;
  };

  std::vector<std::string_view>* pieces = nullptr;
  std::optional<Reader> reader;
};

ChunkDecoder::ChunkDecoder() : parser_(std::make_unique<Parser>()) {
  reset();
}
ChunkDecoder::~ChunkDecoder() = default;

void ChunkDecoder::reset() {
  parser_->reader.emplace(parser_->pieces);
  trailers_.clear();
  BeastError error;
  const std::size_t taken = parser_->reader->put(boost::asio::buffer(kHead.data(), kHead.size()), error);
  SLUICE_ASSERT(taken == kHead.size() && parser_->reader->is_header_done());
}

ChunkDecoder::State ChunkDecoder::feed(std::string_view bytes, std::size_t& taken,
                                       std::vector<std::string_view>& pieces) {
  pieces.clear();
  taken = 0;
  if (bytes.empty()) return State::More;
  // The shortest last chunk has five bytes; Beast asserts that they come together once it has seen the first
  // three.
  if (parser_->reader->left == 0 && bytes.starts_with("0") && bytes.size() < 5) return State::More;
  parser_->pieces = &pieces;
  BeastError error;
  taken = parser_->reader->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  bytes.remove_prefix(taken);
  if (parser_->reader->at_last_chunk) {
    std::size_t more = 0;
    const State state = take_trailers(bytes, more);
    taken += more;
    return state;
  }
  if (error && error != beast::http::error::need_more) return State::Broken;
  // Beast waits for the trailers' end behind a last chunk, else for the end of a chunk's line.
  const bool last = bytes.starts_with("0") || bytes.starts_with("\r\n0");
  if (bytes.size() > (last ? kLineBytesMax + kTrailerBytesMax : kLineBytesMax)) return State::Broken;
  return State::More;
}

// `bytes`: the last chunk's line, the trailers, and the empty line; all of it is there, or Beast would have
// waited.
ChunkDecoder::State ChunkDecoder::take_trailers(std::string_view bytes, std::size_t& taken) {
  std::string_view rest = bytes;
  if (rest.starts_with("\r\n")) rest.remove_prefix(2);
  bool first = true;
  while (true) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos || end == 0 || rest[end - 1] != '\r') return State::Broken;
    const std::string_view line = rest.substr(0, end - 1);
    const std::string_view with_end = rest.substr(0, end + 1);
    rest.remove_prefix(end + 1);
    if (first) {
      first = false;
      continue;
    }
    if (line.empty()) break;
    std::string_view name, value;
    if (!split_field_line(line, name, value)) return State::Broken;
    if (may_be_trailer(field_id(name))) trailers_ += with_end;
  }
  taken = bytes.size() - rest.size();
  if (taken > kLineBytesMax + kTrailerBytesMax) return State::Broken;
  return State::Done;
}

}  // namespace sluice::http
