#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demo/response_times.h"
#include "demo/table.h"
#include "demo/wave_plan.h"

namespace sluice::demo {

// Looks at router and placer through their HTTP admin.
class Watcher {
 public:
  Watcher(std::uint16_t router_admin_port, std::uint16_t placer_admin_port);

  // A page that does not come, or comes broken, leaves the last one in place. `time`: since the load began.
  void look(Millis time);
  const TableState& state() const noexcept { return state_; }
  // The same with response times since the start.
  TableState whole() const;
  // Why there is nothing to see; empty when there is.
  std::string problem() const;

 private:
  std::optional<std::string> get(std::uint16_t port, const std::string& path);
  void add_changes(std::vector<RoleChange> changes);

  std::uint16_t router_port_, placer_port_;
  std::vector<std::string> names_;
  TableState state_;
  ResponseWindow window_;
  std::int64_t last_decision_ = 0;
  int looks_ = 0;
  std::string problem_;
};

}  // namespace sluice::demo
