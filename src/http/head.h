#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Heads of HTTP/1.0 and HTTP/1.1 messages. Boost.Beast's parser reads them; before it, the bytes themselves
// are checked for what parsers are known to disagree on, because a reverse proxy whose idea of a message's
// end differs from its neighbour's lets one user's bytes become another's request. Pure.
namespace sluice::http {

// The fields that somebody here looks at.
enum class FieldId : std::uint8_t {
  Other,
  Authorization,
  Connection,
  ContentLength,
  ContentType,
  Cookie,
  Expect,
  Forwarded,
  Host,
  KeepAlive,
  ProxyAuthenticate,
  ProxyAuthorization,
  ProxyConnection,
  Te,
  Trailer,
  TransferEncoding,
  Upgrade,
  UserAgent,
  Via,
  TraceParent,
  XForwardedFor,
  XForwardedHost,
  XForwardedProto,
  XRequestId,
  XSluiceHost,
};
FieldId field_id(std::string_view name) noexcept;

struct Field {
  FieldId id = FieldId::Other;
  std::string_view name, value;  // without the blanks around the value
};

// What a message is refused with. `status` 0: it is not refused.
struct Refusal {
  int status = 0;
  const char* sentence = "";  // for people: what is wrong
  explicit operator bool() const noexcept { return status != 0; }
};

struct HeadLimits {
  std::size_t bytes = 16 * 1024;
  std::size_t fields = 100;
};

// How the end of a body is found.
enum class Framing : std::uint8_t { None, Length, Chunked, UntilClose };
enum class Method : std::uint8_t { Get, Head, Options, Trace, Put, Delete, Post, Connect, Other };

// RFC 9110, section 9.2.2: doing it twice is as good as doing it once.
constexpr bool is_idempotent(Method method) noexcept {
  return method != Method::Post && method != Method::Connect && method != Method::Other;
}

// Views into the bytes that were parsed. Reused from message to message: it allocates only while it grows.
struct RequestHead {
  Method method = Method::Other;
  std::string_view method_name;
  std::string_view
      target;             // origin-form, or "*"; of an absolute-form what follows the authority, "/" at least
  std::string_view path;  // of the target, without the query
  std::string_view host;  // the Host field's value, or an absolute-form's authority, which overrides it
  int minor_version = 1;
  Framing framing = Framing::None;   // never UntilClose
  std::uint64_t content_length = 0;  // of Length
  bool keep_alive = false;
  bool expects_continue = false;
  std::string_view upgrade;  // the Upgrade field's value where Connection names it too
  std::vector<Field> fields;
};

struct ResponseHead {
  int status = 0;
  std::string_view reason;
  int minor_version = 1;
  // What the fields say. Whether there is a body at all depends on the request too: see body_framing().
  Framing framing = Framing::UntilClose;
  std::uint64_t content_length = 0;
  bool has_content_length = false;
  bool has_transfer_encoding = false;
  bool keep_alive = false;  // what the sender wants; a body until close rules it out
  std::string_view upgrade;
  std::vector<Field> fields;
  std::string rebuilt;  // holds the fields of a head that had to be changed
};

enum class HeadSearch : std::uint8_t { NeedMore, Found, BareLineFeed };
struct HeadEnd {
  HeadSearch result = HeadSearch::NeedMore;
  std::size_t bytes = 0;  // of Found: the head with its empty line
};
// Looks for the end of the head that `bytes` begins with. `searched` is 0 for a new head, and afterwards what
// the last call left there, so that a head that comes byte by byte is looked at once.
HeadEnd find_head_end(std::string_view bytes, std::size_t& searched) noexcept;

// `bytes` is one whole head, as find_head_end() measured it. Statuses: 400, 417, 431, 501, 505.
Refusal parse_request(std::string_view bytes, const HeadLimits& limits, RequestHead& head);

// Status 502 for all that is wrong. A Content-Length beside a Transfer-Encoding is left out of the fields.
Refusal parse_response(std::string_view bytes, const HeadLimits& limits, ResponseHead& head);

// RFC 9112, section 6.3: HEAD, 1xx, 204 and 304 have no body whatever the fields say.
Framing body_framing(const ResponseHead& head, Method asked_with) noexcept;

// The words of a comma-separated list, one by one, blanks and empty ones left out. False at the end.
bool next_word(std::string_view& list, std::string_view& word) noexcept;
bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept;
bool is_token(std::string_view text) noexcept;

}  // namespace sluice::http
