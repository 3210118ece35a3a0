#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <asio/awaitable.hpp>

#include "http/chunk_decoder.h"
#include "http/head.h"
#include "mirror/source.h"
#include "net/tls_context.h"

namespace sluice::mirror {

// Collects the response to one GET, however its bytes are cut. Pure.
// Shape:  head at most http::HeadLimits, body at most `body_bytes_max`.
class ResponseReader {
 public:
  explicit ResponseReader(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  enum class State { More, Done, Failed };
  State feed(std::string_view bytes);
  // The other side has ended the connection.
  State end();

  int status() const noexcept { return status_; }
  std::string& body() noexcept { return body_; }
  const std::string& problem() const noexcept { return problem_; }  // of Failed

 private:
  State fail(std::string problem);
  State take_head();
  State take_body(std::string_view bytes);
  State take_chunks(std::string_view bytes);
  bool append(std::string_view data);

  const std::size_t body_bytes_max_;
  std::string input_;  // of the head, until it is whole; of a chunk afterwards
  std::size_t searched_ = 0;
  bool in_body_ = false;
  http::Framing framing_ = http::Framing::UntilClose;
  std::uint64_t left_ = 0;  // of Length
  http::ChunkDecoder chunks_;
  int status_ = 0;
  std::string body_, problem_;
};

// A GET for `source`, over a connection that ends with it.
std::string request_for(const Source& source);

struct FetchLimits {
  std::chrono::milliseconds timeout{2000};  // of the whole
  std::size_t body_bytes_max = std::size_t{16} << 20;
};

struct Body {
  std::string text;
};
struct Problem {
  std::string sentence;  // what happened, without the address
};
// One GET over a connection of its own. Anything but a whole answer with status 200 is a problem. `tls` is
// for a secure source; null otherwise.
asio::awaitable<std::variant<Body, Problem>> fetch(Source source, FetchLimits limits,
                                                   std::shared_ptr<const net::TlsContext> tls);

}  // namespace sluice::mirror
