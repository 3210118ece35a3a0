#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/error_response.h"
#include "protocol/frontend_messages.h"

namespace sluice::protocol {

// The untyped packets with which a client opens a connection.
// Source: PostgreSQL manual, "Message Formats" (StartupMessage, SSLRequest, GSSENCRequest, CancelRequest);
// where the manual leaves room, PostgreSQL 15's own answers are the rule.

inline constexpr std::uint16_t kProtocolMajor = 3;
inline constexpr std::uint16_t kProtocolMinorMax = 2;
// Bytes after the length word. PostgreSQL closes silently above it.
inline constexpr std::size_t kStartupBytesMax = 10000;
// NAMEDATALEN - 1: PostgreSQL cuts longer user and database names to it.
inline constexpr std::size_t kNameBytesMax = 63;
inline constexpr std::size_t kCancelSecretBytesMin = 4;
inline constexpr std::size_t kCancelSecretBytesMax = 256;

using Parameter = StartupParameter;  // name, value

enum class Replication { Off, Physical, Database };

struct StartupMessage {
  std::uint16_t minor_requested = 0;
  std::uint16_t minor_granted = 0;  // 0 or 2; what the session speaks from here on
  std::string user;                 // never empty
  std::string database;             // the user's name when the client named none
  Replication replication = Replication::Off;
  std::string options;                // raw text of `options`; see startup_options.h
  std::vector<Parameter> parameters;  // all others, in the client's order, repeats included
  std::vector<std::string>
      protocol_options;  // names `_pq_.*`, prefix included; never settings, never forwarded
};

struct SslRequest {};
struct GssEncRequest {};
struct CancelRequest {
  std::int32_t process_id = 0;
  Bytes secret;  // 4..256 bytes
};

using StartupPacket = std::variant<SslRequest, GssEncRequest, CancelRequest, StartupMessage>;

// What is owed to a client whose start-up ends here. `fields` is for the log too: no secrets in it.
struct StartupRefusal {
  enum class Answer { Silent, ErrorResponse, OldErrorMessage /* protocols before 3.0 */ };
  Answer answer = Answer::ErrorResponse;
  ErrorFields fields;
};

// Which negotiation requests are still meant as such: PostgreSQL takes a repeated one for a protocol version.
struct NegotiationsOpen {
  bool ssl = true;
  bool gss = true;
};

// Length of the packet's body (what follows the length word), or silence where PostgreSQL closes silently.
// Call it as soon as four bytes are there: nothing may be allocated by a length that was not checked.
std::variant<std::size_t, StartupRefusal> startup_body_bytes(std::uint32_t length_word,
                                                             std::size_t bytes_max);

// `body`: exactly what follows the length word. Appends NegotiateProtocolVersion to `out` when the client
// asked for a minor version that we do not speak or for any `_pq_.` option, also where the packet is refused
// afterwards, as PostgreSQL does. A refusal's own answer is not appended: see append_refusal.
std::variant<StartupPacket, StartupRefusal> parse_startup_packet(ByteView body, NegotiationsOpen open,
                                                                 Bytes& out);

void append_refusal(Bytes& out, const StartupRefusal& refusal);

}  // namespace sluice::protocol
