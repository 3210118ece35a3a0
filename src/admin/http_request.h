#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::admin {

enum class HttpMethod { Get, Head, Other };

// What admin needs of a request without a body.
struct HttpRequest {
  HttpMethod method = HttpMethod::Other;
  std::string path;  // begins with '/'; without the query
  bool keep_alive = false;
};

// Reads the head of one request. The parsing is Boost.Beast's; this is the only place that knows Beast.
class HttpRequestParser {
 public:
  explicit HttpRequestParser(std::size_t header_bytes_max);
  ~HttpRequestParser();
  HttpRequestParser(const HttpRequestParser&) = delete;
  HttpRequestParser& operator=(const HttpRequestParser&) = delete;

  enum class State { NeedMore, Done, Refused };
  // Takes bytes off the front of `input` and leaves what it does not need yet, or what follows the request.
  // Call again with more behind. Done: request() is valid. Refused: refusal_status() is, and the parser and
  // its connection are of no further use.
  State feed(std::string& input);
  const HttpRequest& request() const noexcept { return request_; }
  int refusal_status() const noexcept { return refusal_status_; }  // 400, 413, 431

 private:
  struct Beast;
  State judge();
  State refuse(int status);

  std::unique_ptr<Beast> beast_;
  HttpRequest request_;
  int refusal_status_ = 0;
};

}  // namespace sluice::admin
