#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cluster {

// Which of several servers is the primary, from what each says of itself. Never a guess: a server is the
// primary only by its own word that it is not in recovery, and only while nobody else says the same.
//  - Each candidate's last probe counts: it claims (not in recovery), is a standby, or is silent.
//  - One claim: that is the primary. Two: none, until one of them stops.
//  - The primary falls silent: it stays so until `fall` probes in a row have failed or another one claims.
//  - A nominee (the leader, by Patroni) is the only one whose claim counts. Others are not asked.
// Pure. Each event returns whether status() changed.
class PrimaryFinder {
 public:
  struct Status {
    std::optional<std::string> primary;
    std::string reason;  // one clause, where there is none
    bool split = false;  // none because several claim it: who had been it may still be
    friend bool operator==(const Status&, const Status&) = default;
  };

  explicit PrimaryFinder(int fall = 3) : fall_(fall) { decide(); }

  // Those that stay keep what was heard of them.
  bool set_candidates(const std::vector<std::string>& names, int fall);
  // `name` is the one that Patroni calls the leader, nullopt where it calls nobody that; `why` then says so.
  bool nominate(std::optional<std::string> name, std::string why);
  bool accept_any();  // no nominee is needed
  // `in_recovery` empty: the probe did not log in. Then a nominee is taken at its word that it answers.
  bool on_answer(std::string_view name, std::optional<bool> in_recovery);
  bool on_silence(std::string_view name);

  const Status& status() const noexcept { return status_; }
  bool is_candidate(std::string_view name) const { return heard_.contains(std::string(name)); }

 private:
  enum class Word { Nothing, Primary, Standby, Answered, Silence };
  struct Heard {
    Word word = Word::Nothing;
    int silences = 0;  // in a row
  };
  bool decide();
  Status decided() const;
  bool claims(const std::string& name, const Heard& heard) const;

  int fall_;
  bool nominee_needed_ = false;
  std::optional<std::string> nominee_;
  std::string no_nominee_;  // why
  std::map<std::string, Heard> heard_;
  Status status_;
};

}  // namespace sluice::cluster
