#include "placer/forward_head.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::placer {
namespace {

using http::Field;
using http::FieldId;
using http::Framing;

constexpr std::size_t kRequestIdBytesMax = 128;

void line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_hex(std::string& out, std::uint64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4)
    out += kDigits[(number >> shift) & 15];
}

// RFC 9110, section 7.6.1. Transfer-Encoding and Content-Length are written anew, so they are in here too.
bool is_per_hop(FieldId id) noexcept {
  switch (id) {
    case FieldId::Connection:
    case FieldId::KeepAlive:
    case FieldId::ProxyAuthenticate:
    case FieldId::ProxyAuthorization:
    case FieldId::ProxyConnection:
    case FieldId::Te:
    case FieldId::TransferEncoding:
    case FieldId::ContentLength:
    case FieldId::Upgrade:
      return true;
    default:
      return false;
  }
}

// What a Connection field cannot take away: framing, routing, and what hosts rely on.
bool is_protected(FieldId id) noexcept {
  return id != FieldId::Other && !is_per_hop(id);
}

// Whether any Connection field names fields beyond the usual words. Almost never.
bool names_fields(const std::vector<Field>& fields) noexcept {
  for (const Field& field : fields) {
    if (field.id != FieldId::Connection) continue;
    std::string_view list = field.value;
    for (std::string_view word; http::next_word(list, word);) {
      const bool usual = http::equals_ignoring_case(word, "keep-alive") ||
                         http::equals_ignoring_case(word, "close") ||
                         http::equals_ignoring_case(word, "upgrade");
      if (!usual) return true;
    }
  }
  return false;
}

bool is_named(const std::vector<Field>& fields, std::string_view name) noexcept {
  for (const Field& field : fields) {
    if (field.id != FieldId::Connection) continue;
    std::string_view list = field.value;
    for (std::string_view word; http::next_word(list, word);)
      if (http::equals_ignoring_case(word, name)) return true;
  }
  return false;
}

void append_fields(std::string& out, const std::vector<Field>& fields, bool (*left_out)(const Field&)) {
  const bool named = names_fields(fields);
  for (const Field& field : fields) {
    if (is_per_hop(field.id) || left_out(field)) continue;
    if (named && !is_protected(field.id) && is_named(fields, field.name)) continue;
    line(out, field.name, field.value);
  }
}

// Written anew by append_request_head.
bool is_rewritten(FieldId id) noexcept {
  switch (id) {
    case FieldId::Host:
    case FieldId::Forwarded:
    case FieldId::TraceParent:
    case FieldId::Via:
    case FieldId::XForwardedFor:
    case FieldId::XForwardedHost:
    case FieldId::XForwardedProto:
    case FieldId::XRequestId:
    case FieldId::XSluiceHost:
    case FieldId::Expect:
      return true;
    default:
      return false;
  }
}

// CGI, WSGI and Rack give applications the names with `-` as `_`: X_Forwarded_For would there stand beside,
// or in place of, the field that is ours.
bool passes_for_ours(std::string_view name) noexcept {
  constexpr std::size_t kLongest = 32;  // no name that we know is as long
  if (name.size() > kLongest || name.find('_') == name.npos) return false;
  std::array<char, kLongest> dashed{};
  std::replace_copy(name.begin(), name.end(), dashed.begin(), '_', '-');
  const FieldId id = http::field_id({dashed.data(), name.size()});
  return is_rewritten(id) || is_per_hop(id);
}

bool is_rewritten_request_field(const Field& field) {
  return is_rewritten(field.id) || (field.id == FieldId::Other && passes_for_ours(field.name));
}

bool is_rewritten_response_field(const Field& field) {
  return field.id == FieldId::XSluiceHost;
}

std::string_view value_of(const std::vector<Field>& fields, FieldId id) noexcept {
  for (const Field& field : fields)
    if (field.id == id) return field.value;
  return {};
}

// All lines of a list field, joined; behind them a comma where anything is to follow.
void append_joined(std::string& out, const std::vector<Field>& fields, FieldId id) {
  for (const Field& field : fields)
    if (field.id == id && !field.value.empty()) out.append(field.value).append(", ");
}

void append_forwarding(std::string& out, const http::RequestHead& head, const ForwardPolicy& policy,
                       const ClientFacts& client) {
  const std::string_view address = client.address.empty() ? "unknown" : client.address;
  const std::string_view scheme = client.tls ? "https" : "http";
  out += "X-Forwarded-For: ";
  if (client.trusted) append_joined(out, head.fields, FieldId::XForwardedFor);
  out.append(address).append("\r\n");
  const auto believed = [&](FieldId id, std::string_view own) {
    const std::string_view told = client.trusted ? value_of(head.fields, id) : std::string_view();
    return told.empty() ? own : told;
  };
  line(out, "X-Forwarded-Proto", believed(FieldId::XForwardedProto, scheme));
  if (!head.host.empty()) line(out, "X-Forwarded-Host", believed(FieldId::XForwardedHost, head.host));
  if (policy.forwarded) {
    out += "Forwarded: ";
    if (client.trusted) append_joined(out, head.fields, FieldId::Forwarded);
    // RFC 7239, section 6: an IPv6 address is bracketed and quoted.
    const bool v6 = address.find(':') != address.npos;
    out.append("for=").append(v6 ? "\"[" : "").append(address).append(v6 ? "]\"" : "");
    if (!head.host.empty()) out.append(";host=\"").append(head.host).append("\"");
    out.append(";proto=").append(scheme).append("\r\n");
  } else if (client.trusted) {
    for (const Field& field : head.fields)
      if (field.id == FieldId::Forwarded) line(out, field.name, field.value);
  }
  if (policy.via.empty()) {
    for (const Field& field : head.fields)
      if (field.id == FieldId::Via) line(out, field.name, field.value);
  } else {
    out += "Via: ";
    append_joined(out, head.fields, FieldId::Via);
    out.append(head.minor_version == 1 ? "1.1 " : "1.0 ").append(policy.via).append("\r\n");
  }
}

void append_ids(std::string& out, const http::RequestHead& head, Rng& rng, RequestIds& ids) {
  const std::string_view given = value_of(head.fields, FieldId::XRequestId);
  const bool usable = !given.empty() && given.size() <= kRequestIdBytesMax &&
                      std::all_of(given.begin(), given.end(), [](char c) { return c > ' ' && c < 0x7f; });
  ids.request_id = usable ? given : std::string_view();
  if (!usable) {
    append_hex(ids.request_id, rng.next());
    append_hex(ids.request_id, rng.next());
  }
  line(out, "X-Request-Id", ids.request_id);
  const std::string_view parent = value_of(head.fields, FieldId::TraceParent);
  ids.traceparent = is_traceparent(parent) ? parent : std::string_view();
  if (ids.traceparent.empty()) {
    ids.traceparent = "00-";
    append_hex(ids.traceparent, rng.next() | 1);  // never all zeros
    append_hex(ids.traceparent, rng.next());
    ids.traceparent += '-';
    append_hex(ids.traceparent, rng.next() | 1);
    ids.traceparent += "-01";
  }
  line(out, "traceparent", ids.traceparent);
}

}  // namespace

bool is_traceparent(std::string_view text) noexcept {
  constexpr std::string_view kShape = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (kShape[i] == 'x' ? !hex : c != kShape[i]) return false;
  }
  const auto zeros = [](std::string_view id) { return id.find_first_not_of('0') == id.npos; };
  return !zeros(text.substr(3, 32)) && !zeros(text.substr(36, 16));
}

std::string_view allowed_upgrade(const http::RequestHead& head, const ForwardPolicy& policy) noexcept {
  // A body would be in the way of the bytes behind the switch.
  if (head.upgrade.empty() || head.framing != Framing::None) return {};
  std::string_view list = head.upgrade;
  for (std::string_view word; http::next_word(list, word);)
    for (const std::string& allowed : policy.upgrades)
      if (http::equals_ignoring_case(word, allowed)) return word;
  return {};
}

void append_request_head(std::string& out, const http::RequestHead& head, const ForwardPolicy& policy,
                         const ClientFacts& client, std::string_view upgrade, Rng& rng, RequestIds& ids) {
  out.append(head.method_name).append(" ").append(head.target).append(" HTTP/1.1\r\n");
  line(out, "Host", head.host);
  append_fields(out, head.fields, is_rewritten_request_field);
  append_forwarding(out, head, policy, client);
  append_ids(out, head, rng, ids);
  if (head.expects_continue) line(out, "Expect", "100-continue");
  if (head.framing == Framing::Length) {
    out += "Content-Length: ";
    append_number(out, head.content_length);
    out += "\r\n";
  } else if (head.framing == Framing::Chunked) {
    line(out, "Transfer-Encoding", "chunked");
  }
  if (!upgrade.empty()) {
    line(out, "Connection", "Upgrade");
    line(out, "Upgrade", upgrade);
  }
  out += "\r\n";
}

void append_response_head(std::string& out, const http::ResponseHead& head, const ForwardPolicy& policy,
                          const ResponseFacts& facts) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::uint64_t>(head.status));
  out.append(" ").append(head.reason).append("\r\n");
  append_fields(out, head.fields, is_rewritten_response_field);
  if (policy.host_header && head.status >= 200) line(out, "X-Sluice-Host", facts.host_name);
  const bool informational = head.status / 100 == 1;
  const bool may_frame = !informational && head.status != 204;
  if (facts.body == BodyOut::Length ||
      (facts.body == BodyOut::None && may_frame && head.has_content_length)) {
    out += "Content-Length: ";
    append_number(out, head.content_length);
    out += "\r\n";
  } else if (facts.body == BodyOut::Chunked ||
             (facts.body == BodyOut::None && may_frame && head.has_transfer_encoding &&
              facts.client_minor_version == 1)) {
    line(out, "Transfer-Encoding", "chunked");
  }
  if (head.status == 101) {
    line(out, "Connection", "Upgrade");
    line(out, "Upgrade", head.upgrade);
  } else if (!informational) {
    if (!facts.keep_alive) {
      line(out, "Connection", "close");
    } else if (facts.client_minor_version == 0) {
      line(out, "Connection", "keep-alive");
    }
  }
  out += "\r\n";
}

}  // namespace sluice::placer
