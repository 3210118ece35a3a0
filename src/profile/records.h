#pragma once

#include "sluice/profile.h"

#include "profile/contents.h"

// Values to records and back, one pair per table. Bytes of a record may come from anybody: names end within
// their room, numbers that cannot be are zero, and times are so bounded that their differences do not
// overflow.
namespace sluice::profile {

sluice_profile_host to_record(const Host&) noexcept;
sluice_profile_server to_record(const Server&) noexcept;
sluice_profile_rtt to_record(const Rtt&) noexcept;
sluice_profile_class to_record(const std::string& class_name) noexcept;
sluice_profile_route to_record(const Route&) noexcept;
sluice_profile_residual to_record(const Residual&) noexcept;

Host from_record(const sluice_profile_host&);
Server from_record(const sluice_profile_server&);
Rtt from_record(const sluice_profile_rtt&);
std::string from_record(const sluice_profile_class&);
Route from_record(const sluice_profile_route&);
Residual from_record(const sluice_profile_residual&);

Moment moment_of(std::int64_t nanoseconds) noexcept;
Nanos nanos_of(std::int64_t nanoseconds) noexcept;
std::int64_t to_nanos(Moment) noexcept;
double finite(double value) noexcept;  // 0 for what is no number

}  // namespace sluice::profile
