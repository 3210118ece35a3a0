#include "admin/session_settings.h"

#include <algorithm>

#include "admin/text.h"

namespace sluice::admin {

// Drivers read the server's version to choose what they may use, and refuse what does not begin with a
// number: PostgreSQL 15 is what the console's part of the protocol was written against.
std::vector<std::pair<std::string, std::string>> reported_settings(const SessionFacts& facts) {
  return {{"server_version", "15.0 (Sluice " + facts.version + ")"},
          {"server_encoding", "UTF8"},
          {"client_encoding", "UTF8"},
          {"application_name", displayable(facts.application_name)},
          {"is_superuser", facts.privilege == Privilege::Admin ? "on" : "off"},
          {"session_authorization", displayable(facts.user)},
          {"DateStyle", "ISO, MDY"},
          {"IntervalStyle", "postgres"},
          {"TimeZone", "UTC"},
          {"integer_datetimes", "on"},
          {"standard_conforming_strings", "on"},
          {"default_transaction_read_only", "off"},
          {"in_hot_standby", "off"}};
}

std::optional<std::string> setting_value(std::string_view name, const SessionFacts& facts) {
  for (auto& [key, value] : reported_settings(facts))
    if (same_word(key, name)) return std::move(value);
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"transaction_isolation", "read committed"},
      {"default_transaction_isolation", "read committed"},
      {"transaction_read_only", "off"},
      {"server_version_num", "150000"},
      {"search_path", ""},
      {"extra_float_digits", "1"},
      {"max_identifier_length", "63"},
      {"lc_collate", "C"},
      {"bytea_output", "hex"}};
  for (const auto& [key, value] : kOthers)
    if (same_word(key, name)) return std::string(value);
  return std::nullopt;
}

bool is_driver_setting(std::string_view name) {
  constexpr std::string_view kNames[] = {"application_name",
                                         "bytea_output",
                                         "client_encoding",
                                         "client_min_messages",
                                         "constraints",
                                         "datestyle",
                                         "default_transaction_deferrable",
                                         "default_transaction_isolation",
                                         "default_transaction_read_only",
                                         "extra_float_digits",
                                         "idle_in_transaction_session_timeout",
                                         "idle_session_timeout",
                                         "intervalstyle",
                                         "jit",
                                         "lock_timeout",
                                         "names",
                                         "role",
                                         "search_path",
                                         "session",
                                         "standard_conforming_strings",
                                         "statement_timeout",
                                         "synchronous_commit",
                                         "time",
                                         "timezone",
                                         "transaction",
                                         "transaction_isolation",
                                         "transaction_read_only",
                                         "work_mem"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view n) { return same_word(n, name); });
}

}  // namespace sluice::admin
