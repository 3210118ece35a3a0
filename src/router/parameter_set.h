#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace sluice::router {

// What a server reported of its settings by ParameterStatus, in its order. Immutable and shared: thousands of
// connections to the same servers hold the same few sets (see intern()).
class ParameterSet {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  explicit ParameterSet(Entries entries) : entries_(std::move(entries)) {}

  const Entries& entries() const noexcept { return entries_; }
  // The value, or an empty view for a name that was not reported.
  std::string_view value(std::string_view name) const noexcept;
  // One ParameterStatus message per entry.
  void append_messages(Bytes& out) const;

  // The one shared object equal to `entries`. Any thread; a mutex, taken per server login only.
  static std::shared_ptr<const ParameterSet> intern(Entries entries);
  // The set with `changes` applied: known names replaced, new ones appended. `base` itself when nothing
  // differs.
  static std::shared_ptr<const ParameterSet> apply(std::shared_ptr<const ParameterSet> base,
                                                   const Entries& changes);

 private:
  Entries entries_;
};

}  // namespace sluice::router
