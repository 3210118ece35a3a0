#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/rng.h"

#include "http/head.h"

// The heads that are passed on: what a proxy must take out, must put in, and must leave alone. Pure.
namespace sluice::placer {

struct ForwardPolicy {
  bool forwarded = false;
  std::string via;                    // "" = none
  bool host_header = true;            // X-Sluice-Host in responses
  std::vector<std::string> upgrades;  // protocols that may be upgraded to
};

struct ClientFacts {
  std::string_view address;  // numeric, without brackets; "" for a Unix socket
  bool trusted = false;      // what it says of those before it is believed
  bool tls = false;
};

// What a request is known by in logs.
struct RequestIds {
  std::string request_id;
  std::string traceparent;
};

// Appends the request head for the compute host: origin-form, HTTP/1.1, hop-by-hop fields removed, forwarding
// fields set, framing written anew, X-Request-Id and traceparent added where they are absent or malformed.
// `upgrade` is the protocol that may be asked for, "" when none. Gives the ids that it carries in `ids`.
void append_request_head(std::string& out, const http::RequestHead& head, const ForwardPolicy& policy,
                         const ClientFacts& client, std::string_view upgrade, Rng& rng, RequestIds& ids);

// The protocol of `head.upgrade` that the policy allows, "" when there is none.
std::string_view allowed_upgrade(const http::RequestHead& head, const ForwardPolicy& policy) noexcept;

// How the response's body goes on to the client.
enum class BodyOut {
  None,     // no body, no framing field beyond what the host said (HEAD, 304), none at all for 1xx and 204
  Length,   // as many bytes as Content-Length says
  Chunked,  // re-encoded
  Raw,      // until the connection's end: HTTP/1.0 clients
};
struct ResponseFacts {
  BodyOut body = BodyOut::None;
  bool keep_alive = true;
  int client_minor_version = 1;
  std::string_view host_name;  // the compute host's
};
// Appends the response head for the client.
void append_response_head(std::string& out, const http::ResponseHead& head, const ForwardPolicy& policy,
                          const ResponseFacts& facts);

// W3C Trace Context, version 00: 00-<32 hex>-<16 hex>-<2 hex>, neither id all zeros.
bool is_traceparent(std::string_view text) noexcept;

}  // namespace sluice::placer
