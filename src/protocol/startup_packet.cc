#include "protocol/startup_packet.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "protocol/backend_messages.h"

namespace sluice::protocol {
namespace {

using Answer = StartupRefusal::Answer;

StartupRefusal refusal(Answer answer, std::string sqlstate, std::string message, std::string hint = {}) {
  return {answer, {"FATAL", std::move(sqlstate), std::move(message), {}, std::move(hint)}};
}

StartupRefusal bad_length() {
  return refusal(Answer::Silent, "08P01", "invalid length of startup packet");
}

std::string version_text(std::uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xFFFF);
}

StartupRefusal unsupported_version(std::uint32_t version) {
  const std::uint16_t major = static_cast<std::uint16_t>(version >> 16);
  // PostgreSQL takes version 0, the value before any was asked for, as a current one.
  const bool old = version != 0 && major < kProtocolMajor;
  return refusal(old ? Answer::OldErrorMessage : Answer::ErrorResponse, "0A000",
                 "unsupported frontend protocol " + version_text(version) + ": server supports " +
                     version_text(kProtocol30) + " to " + version_text(kProtocol32));
}

// PostgreSQL's parse_bool: any case, unique prefixes of true, false, yes, no, on, off, and 1, 0.
std::optional<bool> parse_bool(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto begins = [&lower](std::string_view word, std::size_t length_min) {
    return lower.size() >= length_min && word.substr(0, lower.size()) == lower;
  };
  if (lower == "1" || begins("true", 1) || begins("yes", 1) || begins("on", 2)) return true;
  if (lower == "0" || begins("false", 1) || begins("no", 1) || begins("off", 2)) return false;
  return std::nullopt;
}

// Stores one parameter; a refusal where PostgreSQL refuses it while it still reads the packet.
std::optional<StartupRefusal> store(StartupMessage& startup, std::string_view name, std::string_view value) {
  if (name == "database") {
    startup.database = value;
  } else if (name == "user") {
    startup.user = value;
  } else if (name == "options") {
    startup.options = value;
  } else if (name == "replication") {
    const std::optional<bool> on = parse_bool(value);
    if (value == "database") {
      startup.replication = Replication::Database;
    } else if (on) {
      startup.replication = *on ? Replication::Physical : Replication::Off;
    } else {
      return refusal(Answer::ErrorResponse, "22023",
                     "invalid value for parameter \"replication\": \"" + std::string(value) + "\"",
                     "Valid values are: \"false\", 0, \"true\", 1, \"database\".");
    }
  } else if (name.substr(0, 5) == "_pq_.") {
    startup.protocol_options.emplace_back(name);
  } else {
    startup.parameters.emplace_back(name, value);
  }
  return std::nullopt;
}

std::variant<StartupPacket, StartupRefusal> parse_cancel_request(ByteReader in) {
  const auto process_id = in.i32();
  if (!process_id || in.remaining() < kCancelSecretBytesMin || in.remaining() > kCancelSecretBytesMax)
    return bad_length();
  return CancelRequest{*process_id, Bytes(in.rest().begin(), in.rest().end())};
}

// Name and value pairs, then one zero byte that must be the packet's last.
std::optional<StartupRefusal> parse_parameters(ByteReader in, StartupMessage& startup) {
  while (in.remaining() > 0 && in.rest().front() != std::byte{0}) {
    const auto name = in.cstring();
    const auto value = in.cstring();
    if (!name || !value) break;
    if (auto refused = store(startup, *name, *value)) return refused;
  }
  if (in.remaining() == 1 && in.rest().front() == std::byte{0}) return std::nullopt;
  return refusal(Answer::ErrorResponse, "08P01",
                 "invalid startup packet layout: expected terminator as last byte");
}

std::variant<StartupPacket, StartupRefusal> parse_startup_message(std::uint32_t version, ByteReader in,
                                                                  Bytes& out) {
  StartupMessage startup;
  startup.minor_requested = static_cast<std::uint16_t>(version);
  // There is no 3.1: who asks for it gets 3.0.
  startup.minor_granted = startup.minor_requested >= kProtocolMinorMax ? kProtocolMinorMax : 0;
  if (auto refused = parse_parameters(in, startup)) return *std::move(refused);
  if (startup.minor_granted != startup.minor_requested || !startup.protocol_options.empty())
    append_negotiate_protocol_version(out, kProtocol30 | startup.minor_granted, startup.protocol_options);
  if (startup.user.empty())
    return refusal(Answer::ErrorResponse, "28000", "no PostgreSQL user name specified in startup packet");
  if (startup.database.empty()) startup.database = startup.user;
  startup.user.resize(std::min(startup.user.size(), kNameBytesMax));
  startup.database.resize(std::min(startup.database.size(), kNameBytesMax));
  return startup;
}

}  // namespace

std::variant<std::size_t, StartupRefusal> startup_body_bytes(std::uint32_t length_word,
                                                             std::size_t bytes_max) {
  // The length counts its own four bytes, and a packet begins with a four-byte code.
  if (length_word < 8 || length_word - 4 > bytes_max) return bad_length();
  return std::size_t{length_word - 4};
}

std::variant<StartupPacket, StartupRefusal> parse_startup_packet(ByteView body, NegotiationsOpen open,
                                                                 Bytes& out) {
  ByteReader in(body);
  const auto code = in.u32();
  if (!code) return bad_length();
  if (*code == kCancelRequestCode) return parse_cancel_request(in);
  if (*code == kSslRequestCode && open.ssl) return SslRequest{};
  if (*code == kGssEncRequestCode && open.gss) return GssEncRequest{};
  if (*code >> 16 != kProtocolMajor) return unsupported_version(*code);
  return parse_startup_message(*code, in, out);
}

void append_refusal(Bytes& out, const StartupRefusal& refused) {
  switch (refused.answer) {
    case Answer::Silent:
      return;
    case Answer::ErrorResponse:
      return append_error_response(out, refused.fields);
    case Answer::OldErrorMessage:
      // Protocol 2: the type byte and one string, no length.
      ByteWriter(out).cstring("E" + refused.fields.severity + ":  " + refused.fields.message + "\n");
      return;
  }
}

}  // namespace sluice::protocol
