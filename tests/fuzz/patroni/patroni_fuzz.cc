// Answers of Patroni, or of anybody who listens where it should.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "cluster/patroni.h"

using sluice::cluster::ClusterView;
using sluice::cluster::Member;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  std::string problem;
  const auto view = sluice::cluster::parse_cluster(json, problem);
  SLUICE_ASSERT(view.has_value() == problem.empty());
  if (!view) return 0;
  SLUICE_ASSERT(view->members.size() <= sluice::cluster::kMembersMax);
  int leaders = 0;
  for (const Member& member : view->members) {
    SLUICE_ASSERT(!member.name.empty() && !member.host.empty() && member.port > 0);
    SLUICE_ASSERT(view->find(member.name) == &member);
    leaders += member.role == sluice::cluster::MemberRole::Leader ? 1 : 0;
  }
  if (view->leader() != nullptr) SLUICE_ASSERT(leaders == 1 && view->leader()->running());
  return 0;
}
