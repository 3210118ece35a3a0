#pragma once

#include <system_error>
#include <type_traits>

namespace sluice::profile {

// What can be wrong with a profile in memory.
enum class ProfileErrc {
  NotAProfile = 1,  // the magic is another
  OtherByteOrder,   // written by a machine with another byte order
  Incompatible,     // a later layout that readers of this version cannot understand
  Truncated,        // shorter than its header says
  Malformed,        // sizes, offsets or counts contradict each other
  Busy,             // a record was being written each time; for good if the writer died over it
};

std::error_code make_error_code(ProfileErrc e) noexcept;

}  // namespace sluice::profile

template <>
struct std::is_error_code_enum<sluice::profile::ProfileErrc> : std::true_type {};
