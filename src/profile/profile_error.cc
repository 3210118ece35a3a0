#include "profile/profile_error.h"

#include <string>

namespace sluice::profile {
namespace {

class ProfileCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "profile"; }
  std::string message(int value) const override {
    switch (static_cast<ProfileErrc>(value)) {
      case ProfileErrc::NotAProfile:
        return "this is no profile";
      case ProfileErrc::OtherByteOrder:
        return "the profile was written by a machine with another byte order";
      case ProfileErrc::Incompatible:
        return "the profile has a later layout, which this version cannot read";
      case ProfileErrc::Truncated:
        return "the profile is cut off: the file is shorter than it says";
      case ProfileErrc::Malformed:
        return "the profile contradicts itself";
      case ProfileErrc::Busy:
        return "a record is half written: its writer is busy, or died over it";
    }
    return "unknown error";
  }
};

const ProfileCategory kProfileCategory;

}  // namespace

std::error_code make_error_code(ProfileErrc e) noexcept {
  return {static_cast<int>(e), kProfileCategory};
}

}  // namespace sluice::profile
