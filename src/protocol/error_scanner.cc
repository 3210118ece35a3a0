#include "protocol/error_scanner.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice::protocol {

void ErrorScanner::feed(ByteView piece) noexcept {
  for (const std::byte byte : piece) {
    const char c = std::to_integer<char>(byte);
    switch (place_) {
      case Place::FieldCode:
        field_ = c;
        kept_count_ = 0;
        place_ = c == 0 ? Place::End : Place::Value;
        break;
      case Place::Value:
        if (c == 0) {
          end_value();
          place_ = Place::FieldCode;
        } else if (kept_count_ < kKeptBytes) {
          kept_[kept_count_++] = c;
        }
        break;
      case Place::End:
        return;
    }
  }
}

void ErrorScanner::end_value() noexcept {
  const std::string_view value(kept_.data(), kept_count_);
  if (field_ == 'V' || (field_ == 'S' && !unlocalized_seen_)) {
    error_.fatal = value == "FATAL" || value == "PANIC";
    unlocalized_seen_ = unlocalized_seen_ || field_ == 'V';
  } else if (field_ == 'C' && value.size() == error_.sqlstate.size()) {
    std::copy(value.begin(), value.end(), error_.sqlstate.begin());
  }
}

ErrorClass ErrorScanner::finish() noexcept {
  return std::exchange(*this, ErrorScanner()).error_;
}

}  // namespace sluice::protocol
