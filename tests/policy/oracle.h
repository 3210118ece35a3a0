#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sluice/policy/pool_config.h"

namespace sluice::policy {

// PLB once more, slow and obvious, on names: every set of the definition is built as a list, every order is a
// sort. Shares nothing with src/policy but the configuration.
class Oracle {
 public:
  struct Replica {
    std::string pool;  // class name or "mixed"
    bool borrowed = false;
    bool up = true;
    bool draining = false;
    std::map<std::string, long> loads;  // by class, also of removed classes
  };
  struct Answer {
    std::string replica;  // "" when refused
    std::string outcome;
    std::vector<std::string> changes;  // "r4:premium>mixed return"
  };

  explicit Oracle(const PoolConfig& config) { reload(config); }

  void reload(const PoolConfig&);
  Answer open(const std::string& cls, const std::set<std::string>& excluded);
  void close(const std::string& replica, const std::string& cls) { --all_[replica].loads[cls]; }
  Replica& at(const std::string& replica) { return all_[replica]; }

  const std::vector<std::string>& order() const { return order_; }
  std::vector<std::string> pool_members(const std::string& pool) const;
  bool live(const std::string& replica) const;
  long load(const std::string& replica, const std::string& cls) const;
  long total(const std::string& replica) const;

 private:
  using Names = std::vector<std::string>;

  const ClassParams& params(const std::string& cls) const;
  Names above(const std::string& cls) const;
  Names below(const std::string& cls) const;
  long load_of(const std::string& replica, const Names& classes) const;
  long ordering_load(const std::string& replica, const std::string& cls) const;
  Names without_excluded(const Names&) const;
  std::string best_by(const Names& candidates, const std::map<std::string, std::vector<long>>& key) const;
  std::string decide(const std::string& cls, Answer&);
  std::string donor_among_lower(const std::string& cls);
  std::string donor_among_higher(const std::string& cls);
  bool one_return(Answer&);
  void move(const std::string& replica, const std::string& to, bool borrow, Answer&);

  std::vector<ClassParams> classes_;
  Names order_;
  std::map<std::string, Replica> all_;
  std::set<std::string> excluded_;
};

}  // namespace sluice::policy
