#include "cluster/primary_finder.h"

#include <utility>

namespace sluice::cluster {

bool PrimaryFinder::set_candidates(const std::vector<std::string>& names, int fall) {
  fall_ = fall;
  std::map<std::string, Heard> kept;
  for (const std::string& name : names) {
    const auto known = heard_.find(name);
    kept.emplace(name, known == heard_.end() ? Heard{} : known->second);
  }
  heard_ = std::move(kept);
  return decide();
}

bool PrimaryFinder::nominate(std::optional<std::string> name, std::string why) {
  nominee_needed_ = true;
  nominee_ = std::move(name);
  no_nominee_ = std::move(why);
  return decide();
}

bool PrimaryFinder::accept_any() {
  nominee_needed_ = false;
  nominee_.reset();
  return decide();
}

bool PrimaryFinder::on_answer(std::string_view name, std::optional<bool> in_recovery) {
  const auto found = heard_.find(std::string(name));
  if (found == heard_.end()) return false;
  Word word = Word::Answered;
  if (in_recovery) word = *in_recovery ? Word::Standby : Word::Primary;
  found->second = {word, 0};
  return decide();
}

bool PrimaryFinder::on_silence(std::string_view name) {
  const auto found = heard_.find(std::string(name));
  if (found == heard_.end()) return false;
  found->second.word = Word::Silence;
  ++found->second.silences;
  return decide();
}

bool PrimaryFinder::claims(const std::string& name, const Heard& heard) const {
  if (nominee_needed_ && nominee_ != name) return false;
  return heard.word == Word::Primary || (nominee_needed_ && heard.word == Word::Answered);
}

PrimaryFinder::Status PrimaryFinder::decided() const {
  if (nominee_needed_ && !nominee_) return {std::nullopt, no_nominee_, false};
  std::vector<std::string> claiming;
  for (const auto& [name, heard] : heard_)
    if (claims(name, heard)) claiming.push_back(name);
  if (claiming.size() == 1) return {claiming.front(), "", false};
  if (claiming.size() > 1)
    return {std::nullopt, claiming[0] + " and " + claiming[1] + " both say that they are it", true};
  if (status_.primary && (!nominee_needed_ || nominee_ == status_.primary)) {
    const auto current = heard_.find(*status_.primary);
    if (current != heard_.end() && current->second.word == Word::Silence && current->second.silences < fall_)
      return status_;
  }
  if (!nominee_needed_) return {std::nullopt, "no server that answers is out of recovery", false};
  const auto nominee = heard_.find(*nominee_);
  if (nominee != heard_.end() && nominee->second.word == Word::Standby)
    return {std::nullopt, "Patroni's leader " + *nominee_ + " is still in recovery", false};
  return {std::nullopt, "Patroni's leader " + *nominee_ + " does not answer", false};
}

bool PrimaryFinder::decide() {
  Status next = decided();
  if (next == status_) return false;
  status_ = std::move(next);
  return true;
}

}  // namespace sluice::cluster
