#include "base/error.h"

#include <string>

namespace sluice {
namespace {

class BaseCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "sluice"; }
  std::string message(int value) const override {
    switch (static_cast<BaseErrc>(value)) {
      case BaseErrc::Timeout:
        return "timed out";
      case BaseErrc::Closed:
        return "closed by the other side";
      case BaseErrc::LimitReached:
        return "limit reached";
      case BaseErrc::Cancelled:
        return "cancelled";
      case BaseErrc::NotFound:
        return "not found";
    }
    return "unknown error";
  }
};

const BaseCategory kBaseCategory;

}  // namespace

std::error_code make_error_code(BaseErrc e) noexcept {
  return {static_cast<int>(e), kBaseCategory};
}

}  // namespace sluice
