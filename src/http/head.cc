#include "http/head.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "http/raw_check.h"

namespace sluice::http {
namespace {

namespace beast = boost::beast;
using BeastError = boost::system::error_code;

std::string_view view(beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

FieldId id_of(beast::http::field field, std::string_view name) noexcept {
  using F = beast::http::field;
  switch (field) {
    case F::authorization:
      return FieldId::Authorization;
    case F::connection:
      return FieldId::Connection;
    case F::content_length:
      return FieldId::ContentLength;
    case F::content_type:
      return FieldId::ContentType;
    case F::cookie:
      return FieldId::Cookie;
    case F::expect:
      return FieldId::Expect;
    case F::forwarded:
      return FieldId::Forwarded;
    case F::host:
      return FieldId::Host;
    case F::keep_alive:
      return FieldId::KeepAlive;
    case F::proxy_authenticate:
      return FieldId::ProxyAuthenticate;
    case F::proxy_authorization:
      return FieldId::ProxyAuthorization;
    case F::proxy_connection:
      return FieldId::ProxyConnection;
    case F::te:
      return FieldId::Te;
    case F::trailer:
      return FieldId::Trailer;
    case F::transfer_encoding:
      return FieldId::TransferEncoding;
    case F::upgrade:
      return FieldId::Upgrade;
    case F::user_agent:
      return FieldId::UserAgent;
    case F::via:
      return FieldId::Via;
    case F::unknown:
      break;
    default:
      return FieldId::Other;
  }
  // Beast does not know these names.
  if (name.size() == 11 && equals_ignoring_case(name, "traceparent")) return FieldId::TraceParent;
  if (name.size() < 12 || (name[0] | 0x20) != 'x' || name[1] != '-') return FieldId::Other;
  if (equals_ignoring_case(name, "x-forwarded-for")) return FieldId::XForwardedFor;
  if (equals_ignoring_case(name, "x-forwarded-host")) return FieldId::XForwardedHost;
  if (equals_ignoring_case(name, "x-forwarded-proto")) return FieldId::XForwardedProto;
  if (equals_ignoring_case(name, "x-request-id")) return FieldId::XRequestId;
  if (equals_ignoring_case(name, "x-sluice-host")) return FieldId::XSluiceHost;
  return FieldId::Other;
}

Method method_of(beast::http::verb verb) noexcept {
  using V = beast::http::verb;
  switch (verb) {
    case V::get:
      return Method::Get;
    case V::head:
      return Method::Head;
    case V::options:
      return Method::Options;
    case V::trace:
      return Method::Trace;
    case V::put:
      return Method::Put;
    case V::delete_:
      return Method::Delete;
    case V::post:
      return Method::Post;
    case V::connect:
      return Method::Connect;
    default:
      return Method::Other;
  }
}

// Hands on what the parser finds; reads heads alone.
template <bool IsRequest, class Head>
class HeadReader final : public beast::http::basic_parser<IsRequest> {
  using Base = beast::http::basic_parser<IsRequest>;

 public:
  HeadReader(Head& head, const HeadLimits& limits) : head_(head) {
    this->header_limit(static_cast<std::uint32_t>(limits.bytes + 4));
    // Without a limit Beast 1.74 takes every length for one above it.
    this->body_limit(std::numeric_limits<std::uint64_t>::max());
  }

 private:
  void on_request_impl(beast::http::verb verb, beast::string_view name, beast::string_view target,
                       int version, BeastError&) override {
    if constexpr (IsRequest) {
      head_.method = method_of(verb);
      head_.method_name = view(name);
      head_.target = view(target);
      head_.minor_version = version - 10;
    }
  }
  void on_response_impl(int status, beast::string_view reason, int version, BeastError&) override {
    if constexpr (!IsRequest) {
      head_.status = status;
      head_.reason = view(reason);
      head_.minor_version = version - 10;
    }
  }
  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     BeastError&) override {
    head_.fields.push_back({id_of(field, view(name)), view(name), view(value)});
  }
  void on_header_impl(BeastError&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, BeastError&) override {}
  std::size_t on_body_impl(beast::string_view, BeastError&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, BeastError&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, BeastError&) override { return 0; }
  void on_finish_impl(BeastError&) override {}

  Head& head_;
};

// True when the whole head was taken.
template <bool IsRequest, class Head>
bool read_head(std::string_view bytes, const HeadLimits& limits, Head& head, BeastError& error,
               bool& keep_alive) {
  HeadReader<IsRequest, Head> reader(head, limits);
  reader.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  keep_alive = reader.is_header_done() && reader.keep_alive();
  return reader.is_header_done() && !(error && error != beast::http::error::need_more);
}

bool names(std::string_view list, std::string_view wanted) noexcept {
  for (std::string_view word; next_word(list, word);)
    if (equals_ignoring_case(word, wanted)) return true;
  return false;
}

// RFC 3986, section 3.2.2 and 3.2.3, by its characters: what could end or split a host name is refused.
bool is_host(std::string_view host) noexcept {
  if (host.empty()) return false;
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=%:[]";
  return std::all_of(host.begin(), host.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != kMarks.npos;
  });
}

// The head without its Content-Length lines.
std::string_view cut_content_length(std::string_view bytes, std::string& rebuilt) {
  rebuilt.clear();
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n') + 1);
    bytes.remove_prefix(line.size());
    if (!equals_ignoring_case(line.substr(0, line.find(':')), "content-length")) rebuilt += line;
  }
  return rebuilt;
}

constexpr Refusal bad(const char* sentence) noexcept {
  return {400, sentence};
}

// RFC 9112, section 3.2: the four forms of a target.
Refusal judge_target(RequestHead& head) noexcept {
  if (head.method == Method::Connect) return {501, "CONNECT is not served here."};
  std::string_view target = head.target;
  if (target == "*" && head.method == Method::Options) {
    head.path = target;
    return {};
  }
  if (!target.starts_with('/')) {
    const std::size_t scheme = target.find("://");
    const bool known = scheme != target.npos && (equals_ignoring_case(target.substr(0, scheme), "http") ||
                                                 equals_ignoring_case(target.substr(0, scheme), "https"));
    if (!known) return bad("The request target is neither a path nor an http URL.");
    target.remove_prefix(scheme + 3);
    const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
    head.host = target.substr(0, end);
    if (!is_host(head.host)) return bad("The request target's host is not valid.");
    target.remove_prefix(end);
    if (target.empty()) target = "/";
    if (target.front() != '/') return bad("The request target has no path.");
    head.target = target;
  }
  if (target.find('#') != target.npos) return bad("The request target has a fragment.");
  head.path = target.substr(0, target.find('?'));
  return {};
}

// Whoever forwards looks each field up in it.
constexpr std::size_t kConnectionWordsMax = 64;

std::size_t count_words(std::string_view list) noexcept {
  std::size_t count = 0;
  for (std::string_view word; next_word(list, word);)
    ++count;
  return count;
}

Refusal judge_fields(RequestHead& head) noexcept {
  std::size_t hosts = 0, connection_words = 0;
  bool upgrades = false;
  std::string_view host, upgrade;
  for (const Field& field : head.fields) {
    switch (field.id) {
      case FieldId::Host:
        ++hosts;
        host = field.value;
        break;
      case FieldId::Connection:
        upgrades |= names(field.value, "upgrade");
        connection_words += count_words(field.value);
        break;
      case FieldId::Upgrade:
        upgrade = field.value;
        break;
      case FieldId::Expect:
        if (!equals_ignoring_case(field.value, "100-continue"))
          return {417, "Expect knows 100-continue and nothing else."};
        head.expects_continue = head.minor_version == 1;
        break;
      default:
        break;
    }
  }
  if (connection_words > kConnectionWordsMax) return {431, "The Connection field names too many fields."};
  if (hosts > 1) return bad("There are two Host fields.");
  if (hosts == 0 && head.minor_version == 1) return bad("A request of HTTP/1.1 needs a Host field.");
  if (hosts == 1 && !is_host(host)) return bad("The Host field is not a valid host name.");
  if (head.host.empty()) head.host = host;
  if (upgrades && head.minor_version == 1) head.upgrade = upgrade;
  return {};
}

Refusal judge_framing(const RawFraming& raw, RequestHead& head) noexcept {
  if (raw.transfer_encoding_lines > 0) {
    if (raw.content_length_lines > 0) return bad("Transfer-Encoding and Content-Length stand together.");
    if (!raw.only_chunked) return {501, "Transfer-Encoding is something other than a lone chunked."};
    if (head.minor_version == 0) return bad("HTTP/1.0 has no Transfer-Encoding.");
    head.framing = Framing::Chunked;
  } else if (raw.content_length_lines > 0) {
    if (!raw.content_length_valid) return bad("Content-Length is not a plain number.");
    head.framing = Framing::Length;
    head.content_length = raw.content_length;
  }
  return {};
}

}  // namespace

FieldId field_id(std::string_view name) noexcept {
  return id_of(beast::http::string_to_field({name.data(), name.size()}), name);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

bool next_word(std::string_view& list, std::string_view& word) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (!word.empty() && (word.front() == ' ' || word.front() == '\t'))
      word.remove_prefix(1);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t'))
      word.remove_suffix(1);
    if (!word.empty()) return true;
  }
  return false;
}

HeadEnd find_head_end(std::string_view bytes, std::size_t& searched) noexcept {
  while (searched < bytes.size()) {
    const void* found = std::memchr(bytes.data() + searched, '\n', bytes.size() - searched);
    if (found == nullptr) {
      searched = bytes.size();
      break;
    }
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    searched = at + 1;
    if (at == 0 || bytes[at - 1] != '\r') return {HeadSearch::BareLineFeed, 0};
    if (at == 1 || (at >= 3 && bytes[at - 2] == '\n')) return {HeadSearch::Found, at + 1};
  }
  return {};
}

Refusal parse_request(std::string_view bytes, const HeadLimits& limits, RequestHead& head) {
  head.fields.clear();
  head.host = head.upgrade = head.path = {};
  head.framing = Framing::None;
  head.content_length = 0;
  head.expects_continue = false;
  if (bytes.size() > limits.bytes) return {431, "The head of the request is too large."};
  const RawHead raw = check_raw_head(bytes);
  if (raw.problem != nullptr) return bad(raw.problem);
  if (raw.fields > limits.fields) return {431, "The request has too many header fields."};
  BeastError error;
  // Before the parser, which takes more than one form of both and knows one answer, 400.
  head.minor_version = 1;
  if (const Refusal refusal = judge_framing(raw.framing, head)) return refusal;
  if (!read_head<true>(bytes, limits, head, error, head.keep_alive)) {
    if (error == beast::http::error::bad_version) return {505, "This is neither HTTP/1.1 nor HTTP/1.0."};
    return bad("This is no HTTP request that can be understood.");
  }
  if (const Refusal refusal = judge_framing(raw.framing, head)) return refusal;
  if (const Refusal refusal = judge_target(head)) return refusal;
  return judge_fields(head);
}

Refusal parse_response(std::string_view bytes, const HeadLimits& limits, ResponseHead& head) {
  head.fields.clear();
  head.upgrade = {};
  head.framing = Framing::UntilClose;
  head.content_length = 0;
  head.has_content_length = head.has_transfer_encoding = false;
  if (bytes.size() > limits.bytes) return {502, "The head of the host's response is too large."};
  const RawHead raw = check_raw_head(bytes);
  if (raw.problem != nullptr) return {502, "The host's response is malformed."};
  if (raw.fields > limits.fields) return {502, "The host's response has too many header fields."};
  const bool both = raw.framing.transfer_encoding_lines > 0 && raw.framing.content_length_lines > 0;
  if (raw.framing.transfer_encoding_lines > 0) {
    if (!raw.framing.only_chunked)
      return {502, "The host's response has a Transfer-Encoding other than a lone chunked."};
    if (both) bytes = cut_content_length(bytes, head.rebuilt);
  } else if (raw.framing.content_length_lines > 0 && !raw.framing.content_length_valid) {
    return {502, "The host's response has a Content-Length that is not a plain number."};
  }
  BeastError error;
  if (!read_head<false>(bytes, limits, head, error, head.keep_alive))
    return {502, "The host's answer is no HTTP response that can be understood."};
  if (head.status < 100) return {502, "The host's response has a status that does not exist."};
  head.has_transfer_encoding = raw.framing.transfer_encoding_lines > 0;
  head.has_content_length = !both && raw.framing.content_length_lines > 0;
  head.content_length = raw.framing.content_length;
  if (head.has_transfer_encoding) {
    head.framing = Framing::Chunked;
  } else if (head.has_content_length) {
    head.framing = Framing::Length;
  }
  bool upgrades = false, closes = both, stays = false;
  std::string_view upgrade;
  for (const Field& field : head.fields) {
    if (field.id == FieldId::Connection) {
      upgrades |= names(field.value, "upgrade");
      closes |= names(field.value, "close");
      stays |= names(field.value, "keep-alive");
    }
    if (field.id == FieldId::Upgrade) upgrade = field.value;
  }
  if (upgrades) head.upgrade = upgrade;
  // Not the parser's verdict, which does not know whether HEAD was asked for. RFC 9112, section 6.3: whoever
  // sends both a length and a coding may be trying to smuggle.
  head.keep_alive = !closes && (head.minor_version == 1 || stays);
  return {};
}

Framing body_framing(const ResponseHead& head, Method asked_with) noexcept {
  if (asked_with == Method::Head || head.status / 100 == 1 || head.status == 204 || head.status == 304)
    return Framing::None;
  return head.framing;
}

}  // namespace sluice::http
