#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// Small answers of our own: pages of an admin port, errors of the proxy. Pure.
namespace sluice::http {

using WallTime = std::chrono::system_clock::time_point;

class EventViewer;

struct PageField {
  std::string_view name, value;
};

struct Page {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow;  // of 405
  // Further fields of the head, from tables that live as long as the program.
  std::span<const PageField> fields = {};
  // An answer without an end: after the head come this viewer's events. The body is empty. HEAD is answered
  // without a viewer.
  bool endless = false;
  std::shared_ptr<EventViewer> events = nullptr;
};

enum class Connection { KeepAlive, Close };
enum class Body { Whole, HeadersAlone };  // HeadersAlone answers HEAD

// The bytes of a response.
std::string serialize(const Page& page, Body body, Connection connection, WallTime now);

std::string_view reason_phrase(int status) noexcept;
// RFC 9110, section 5.6.7; in English whatever the locale.
std::string http_date(WallTime time);

// What an admin port needs of a request without a body.
struct PageRequest {
  enum class Method { Get, Head, Post, Other };
  Method method = Method::Other;
  std::string path;   // begins with '/'; without the query
  std::string query;  // behind the '?', as it was sent
  // Fields as they were sent; one that comes more than once has its values joined by ", ".
  std::string host, origin, fetch_site, authorization, accept, accept_encoding, traceparent;
  std::string peer;  // of a POST: where it came from, for the log; set by the server
  bool keep_alive = false;
};

// Reads the heads of such requests.
class PageRequestParser {
 public:
  explicit PageRequestParser(std::size_t header_bytes_max) : header_bytes_max_(header_bytes_max) {}

  enum class State { NeedMore, Done, Refused };
  // Takes bytes off the front of `input` and leaves what it does not need yet, or what follows the request.
  // Call again with more behind. Done: request() is valid. Refused: refusal_status() is, and the parser and
  // its connection are of no further use.
  State feed(std::string& input);
  const PageRequest& request() const noexcept { return request_; }
  int refusal_status() const noexcept { return refusal_status_; }  // 400, 413, 431, 501, 505

 private:
  State refuse(int status);

  std::size_t header_bytes_max_;
  std::size_t searched_ = 0;
  PageRequest request_;
  int refusal_status_ = 0;
};

// The value of a parameter in a query, percent-decoded, '+' as a blank; "" when it is not there.
std::string query_value(std::string_view query, std::string_view name);
// Percent-decoding; what is no escape stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace sluice::http
