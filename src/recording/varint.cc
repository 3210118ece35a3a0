#include "recording/varint.h"

namespace sluice::recording {

void put_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<std::byte>((value & 0x7F) | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

void put_zigzag(Bytes& out, std::int64_t value) {
  put_varint(out, zigzag_of(value));
}

void put_text(Bytes& out, std::string_view text) {
  put_varint(out, text.size());
  append(out, as_bytes(text));
}

std::optional<std::uint64_t> VarintReader::varint() noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const auto byte = std::to_integer<std::uint64_t>(rest_[i]);
    if (i == 9 && byte > 1) return std::nullopt;  // beyond 64 bits
    value |= (byte & 0x7F) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    if (byte == 0 && i > 0) return std::nullopt;  // longer than it needs to be
    rest_ = rest_.subspan(i + 1);
    return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> VarintReader::zigzag() noexcept {
  const auto bits = varint();
  if (!bits) return std::nullopt;
  return static_cast<std::int64_t>(*bits >> 1 ^ ((*bits & 1) != 0 ? ~std::uint64_t{0} : 0));
}

std::optional<std::string_view> VarintReader::text(std::size_t bytes_max) noexcept {
  const auto length = varint();
  if (!length || *length > bytes_max || *length > rest_.size()) return std::nullopt;
  const std::string_view text = as_text(rest_.first(static_cast<std::size_t>(*length)));
  rest_ = rest_.subspan(static_cast<std::size_t>(*length));
  return text;
}

}  // namespace sluice::recording
