#include "protocol/proxy_header.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>

#include "base/assert.h"
#include "protocol/protocol_error.h"

namespace sluice::protocol {
namespace {

constexpr std::string_view kSignatureV1 = "PROXY ";
constexpr std::string_view kSignatureV2{"\r\n\r\n\0\r\nQUIT\n", 12};

// Bytes of the addresses behind the binary header, by family.
constexpr std::size_t kInetBytes = 12, kInet6Bytes = 36, kUnixBytes = 216, kUnixNameBytes = 108;

std::string numeric(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, address, text.data(), text.size()) != nullptr ? text.data() : "";
}

// ::ffff:a.b.c.d is a.b.c.d, as everywhere here.
std::string numeric_v6(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) return numeric(AF_INET, &address.s6_addr[12]);
  return numeric(AF_INET6, &address);
}

std::optional<std::string> canonical(std::string_view text, bool v6) {
  const std::string whole(text);
  if (v6) {
    in6_addr address{};
    if (inet_pton(AF_INET6, whole.c_str(), &address) != 1 || whole.find('\0') != whole.npos)
      return std::nullopt;
    return numeric_v6(address);
  }
  in_addr address{};
  if (inet_pton(AF_INET, whole.c_str(), &address) != 1 || whole.find('\0') != whole.npos) return std::nullopt;
  return numeric(AF_INET, &address);
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

std::string unix_name(ByteView field) {
  const std::string_view text = as_text(field);
  if (text[0] == '\0') {
    const std::string_view name = text.substr(1, std::min(text.find('\0', 1), text.size()) - 1);
    return name.empty() ? "" : "@" + std::string(name);
  }
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace

Result<std::size_t> ProxyHeaderDecoder::feed(ByteView bytes) {
  if (state_ == State::Dead) return ProtocolErrc::DecoderDead;
  SLUICE_ASSERT(!done() && !bytes.empty());
  std::size_t taken = 0;
  const auto failed = [this](std::error_code code) -> Error {
    state_ = State::Dead;
    return Error(code, Side::Client);
  };
  while (taken < bytes.size() && !done()) {
    if (state_ == State::Body) {
      const std::size_t count = std::min(bytes.size() - taken, body_bytes_ - body_taken_);
      const std::size_t wanted = std::min(count, kUnixBytes - std::min(kUnixBytes, body_taken_));
      append(kept_, bytes.subspan(taken, wanted));
      taken += count;
      body_taken_ += count;
      if (body_taken_ == body_bytes_) {
        if (!read_addresses()) return failed(ProtocolErrc::MalformedMessage);
        state_ = State::Done;
      }
      continue;
    }
    if (!feed_byte(bytes[taken])) return failed(ProtocolErrc::MalformedMessage);
    ++taken;
    if (state_ == State::Line && kept_.back() == std::byte{'\n'}) {
      if (const auto read = end_of_line(); !read) return failed(read.error().code);
    } else if (state_ == State::Line && kept_.size() >= kProxyV1BytesMax) {
      return failed(ProtocolErrc::MessageTooLong);
    } else if (state_ == State::Binary && kept_.size() == kProxyV2HeaderBytes) {
      if (const auto read = end_of_binary_header(); !read) return failed(read.error().code);
    }
  }
  return taken;
}

// False: the byte cannot stand there.
bool ProxyHeaderDecoder::feed_byte(std::byte value) {
  const std::size_t at = kept_.size();
  const auto fits = [&](std::string_view signature) {
    return at >= signature.size() || value == static_cast<std::byte>(signature[at]);
  };
  if (state_ == State::Start)
    state_ = value == static_cast<std::byte>(kSignatureV1[0]) ? State::Line : State::Binary;
  if (!fits(state_ == State::Line ? kSignatureV1 : kSignatureV2)) return false;
  kept_.push_back(value);
  return true;
}

// Section 2.1: PROXY, TCP4 or TCP6 or UNKNOWN, addresses and ports with one space between them, CRLF.
Result<void> ProxyHeaderDecoder::end_of_line() {
  std::string_view line = as_text(kept_);
  if (!line.ends_with("\r\n")) return ProtocolErrc::MalformedMessage;
  line = line.substr(kSignatureV1.size(), line.size() - kSignatureV1.size() - 2);
  state_ = State::Done;
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return {};
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; words.size() <= 5;) {
    const std::size_t space = line.find(' ', begin);
    words.push_back(line.substr(begin, space - begin));
    if (space == line.npos) break;
    begin = space + 1;
  }
  if (words.size() != 5 || (words[0] != "TCP4" && words[0] != "TCP6")) return ProtocolErrc::MalformedMessage;
  const bool v6 = words[0] == "TCP6";
  const auto source = canonical(words[1], v6), destination = canonical(words[2], v6);
  const auto source_port = port_of(words[3]), destination_port = port_of(words[4]);
  if (!source || !destination || !source_port || !destination_port) return ProtocolErrc::MalformedMessage;
  header_ = {ProxyHeader::Command::Proxied, {*source, *source_port}, {*destination, *destination_port}};
  return {};
}

// Section 2.2: version and command, family and transport, length of what follows.
Result<void> ProxyHeaderDecoder::end_of_binary_header() {
  ByteReader reader(ByteView(kept_).subspan(kSignatureV2.size()));
  const std::uint8_t version_and_command = *reader.u8();
  const std::uint8_t family = *reader.u8();
  body_bytes_ = *reader.u16();
  if (version_and_command != 0x20 && version_and_command != 0x21) return ProtocolErrc::MalformedMessage;
  if (body_bytes_ > kProxyV2BodyBytesMax) return ProtocolErrc::MessageTooLong;
  header_.command = version_and_command == 0x21 ? ProxyHeader::Command::Proxied : ProxyHeader::Command::Local;
  // A LOCAL command's addresses are passed over, whatever they are.
  if (header_.command == ProxyHeader::Command::Proxied && family != 0x00 && family != 0x11 &&
      family != 0x21 && family != 0x31)
    return ProtocolErrc::MalformedMessage;
  state_ = State::Body;
  if (body_bytes_ > 0) return {};
  if (!read_addresses()) return ProtocolErrc::MalformedMessage;
  state_ = State::Done;
  return {};
}

// False when the body is too short for them.
bool ProxyHeaderDecoder::read_addresses() {
  const auto family = static_cast<std::uint8_t>(kept_[13]);
  if (header_.command == ProxyHeader::Command::Local || family == 0x00) {  // AF_UNSPEC: not known
    header_.command = ProxyHeader::Command::Local;
    return true;
  }
  const ByteView body = ByteView(kept_).subspan(kProxyV2HeaderBytes);
  const auto port_at = [&](std::size_t at) { return *ByteReader(body.subspan(at)).u16(); };
  if (family == 0x11) {
    if (body.size() < kInetBytes) return false;
    header_.source = {numeric(AF_INET, body.data()), port_at(8)};
    header_.destination = {numeric(AF_INET, body.data() + 4), port_at(10)};
  } else if (family == 0x21) {
    if (body.size() < kInet6Bytes) return false;
    in6_addr source{}, destination{};
    std::memcpy(&source, body.data(), sizeof source);
    std::memcpy(&destination, body.data() + 16, sizeof destination);
    header_.source = {numeric_v6(source), port_at(32)};
    header_.destination = {numeric_v6(destination), port_at(34)};
  } else {
    if (body.size() < kUnixBytes) return false;
    header_.source = {unix_name(body.first(kUnixNameBytes)), 0, true};
    header_.destination = {unix_name(body.subspan(kUnixNameBytes, kUnixNameBytes)), 0, true};
  }
  return true;
}

namespace {

struct Binary {
  std::array<std::uint8_t, 16> ip{};
  bool v4 = false;
};

// Of a numeric address; IPv4 is mapped.
Binary binary(const std::string& text) {
  Binary found;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    found.v4 = true;
    found.ip[10] = found.ip[11] = 0xFF;
    std::memcpy(&found.ip[12], &v4, sizeof v4);
  } else {
    const int parsed = inet_pton(AF_INET6, text.c_str(), found.ip.data());
    SLUICE_ASSERT(parsed == 1);
  }
  return found;
}

// In version 1, IPv4 beside IPv6.
std::string as_v6(const std::string& text) {
  return text.find(':') == text.npos ? "::ffff:" + text : text;
}

void append_unix_name(Bytes& out, const std::string& name) {
  std::string field = name.substr(0, kUnixNameBytes);
  if (field.starts_with('@')) field[0] = '\0';
  field.resize(kUnixNameBytes, '\0');
  append(out, as_bytes(field));
}

}  // namespace

void append_proxy_v1(Bytes& out, const ProxyEndPoint& source, const ProxyEndPoint& destination) {
  if (source.is_unix || destination.is_unix) return append_proxy_v1_unknown(out);
  const bool v4 = binary(source.address).v4 && binary(destination.address).v4;
  std::string line(kSignatureV1);
  line += v4 ? "TCP4 " : "TCP6 ";
  line += (v4 ? source.address : as_v6(source.address)) + ' ';
  line += (v4 ? destination.address : as_v6(destination.address)) + ' ';
  line += std::to_string(source.port) + ' ' + std::to_string(destination.port) + "\r\n";
  append(out, as_bytes(line));
}

void append_proxy_v2(Bytes& out, const ProxyEndPoint& source, const ProxyEndPoint& destination) {
  append(out, as_bytes(kSignatureV2));
  ByteWriter writer(out);
  writer.u8(0x21);
  if (source.is_unix != destination.is_unix) {
    writer.u8(0x00);
    writer.u16(0);
  } else if (source.is_unix) {
    writer.u8(0x31);
    writer.u16(kUnixBytes);
    append_unix_name(out, source.address);
    append_unix_name(out, destination.address);
  } else {
    const Binary from = binary(source.address), to = binary(destination.address);
    const bool v4 = from.v4 && to.v4;
    writer.u8(v4 ? 0x11 : 0x21);
    writer.u16(static_cast<std::uint16_t>(v4 ? kInetBytes : kInet6Bytes));
    const std::size_t skipped = v4 ? 12 : 0;
    append(out, std::as_bytes(std::span(from.ip)).subspan(skipped));
    append(out, std::as_bytes(std::span(to.ip)).subspan(skipped));
    writer.u16(source.port);
    writer.u16(destination.port);
  }
}

void append_proxy_v1_unknown(Bytes& out) {
  append(out, as_bytes("PROXY UNKNOWN\r\n"));
}

void append_proxy_v2_local(Bytes& out) {
  append(out, as_bytes(kSignatureV2));
  ByteWriter writer(out);
  writer.u8(0x20);
  writer.u8(0x00);
  writer.u16(0);
}

}  // namespace sluice::protocol
