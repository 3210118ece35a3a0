#include "protocol/scram_attributes.h"

namespace sluice::protocol {

std::optional<ScramAttributes::Attribute> ScramAttributes::next() noexcept {
  if (done_ || rest_.size() < 2 || rest_[1] != '=') return std::nullopt;
  const char letter = rest_[0];
  if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) return std::nullopt;
  const std::size_t comma = rest_.find(',', 2);
  const bool last = comma == std::string_view::npos;
  const Attribute attribute{letter, rest_.substr(2, last ? comma : comma - 2)};
  rest_.remove_prefix(last ? rest_.size() : comma + 1);
  done_ = last;
  return attribute;
}

std::optional<std::string_view> ScramAttributes::expect(char name) noexcept {
  if (rest_.empty() || rest_[0] != name) return std::nullopt;
  const auto attribute = next();
  if (!attribute) return std::nullopt;
  return attribute->value;
}

}  // namespace sluice::protocol
