#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "config/config.h"
#include "tests/config/temporary_folder.h"

namespace sluice::config {

inline constexpr std::string_view kVerifier =
    "SCRAM-SHA-256$4096:AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

// Loads configurations from a folder with a userlist of four users: scram, hash, plain, nobody.
class Loading {
 public:
  Loading() {
    folder_.write("users", "\"scram\" \"" + std::string(kVerifier) +
                               "\"\n\"hash\" \"md50123456789abcdef0123456789abcdef\"\n"
                               "\"plain\" \"secret\"\n\"nobody\" \"\"\n");
    folder_.write("verifiers", "\"scram\" \"" + std::string(kVerifier) + "\"\n");
    folder_.write("password", "sesame\n");
    folder_.write("cert", "-\n");
  }
  const TemporaryFolder& folder() const { return folder_; }

  LoadOutcome load(std::string_view yaml) const { return load_text(yaml, folder_.path("sluice.yaml")); }
  // On top of a primary, three replicas and an auth_file of SCRAM verifiers, which alone have no problem.
  LoadOutcome load_with(std::string_view more) const { return load(std::string(kBase) + std::string(more)); }

  static constexpr std::string_view kBase = "primary: p\nreplicas: [a, b, c]\nauth_file: verifiers\n";
  static constexpr std::uint32_t kBaseLines = 3;

 private:
  TemporaryFolder folder_;
};

inline std::string text_of(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += to_string(problem) + "\n";
  return out;
}

// Whether there is a problem at this key whose message or hint contains the text.
inline bool has_problem(const LoadOutcome& outcome, Severity severity, std::string_view key,
                        std::string_view text) {
  return std::any_of(outcome.problems.begin(), outcome.problems.end(), [&](const Problem& p) {
    return p.severity == severity && p.key == key &&
           (p.message + "; " + p.hint).find(text) != std::string::npos;
  });
}
inline bool has_error(const LoadOutcome& outcome, std::string_view key, std::string_view text) {
  return has_problem(outcome, Severity::Error, key, text) && outcome.config == nullptr;
}
inline bool has_warning(const LoadOutcome& outcome, std::string_view key, std::string_view text) {
  return has_problem(outcome, Severity::Warning, key, text);
}

}  // namespace sluice::config
