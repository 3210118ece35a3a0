#include "admin/history.h"

#include <algorithm>
#include <utility>

namespace sluice::admin {
namespace {

// Since then; all of it where counting began anew.
std::int64_t growth(std::int64_t now, std::int64_t before) {
  return now >= before ? now - before : now;
}

}  // namespace

void History::add(WallTime now, const Snapshot& overview) {
  Sample& sample = samples_.emplace_back();
  const bool first = number_ == 0;
  sample.number = ++number_;
  sample.time = now;
  for (const ClassRow& row : overview.classes) {
    OfClass& one = sample.classes.emplace_back();
    one.name = row.name;
    one.sessions = row.sessions;
    one.waiting = row.waiting;
    one.replicas = row.replicas;
    const auto [known, is_new] = opened_.try_emplace(row.name, row.opened);
    one.opened = is_new ? 0 : growth(row.opened, std::exchange(known->second, row.opened));
    one.response = row.recent_response.times;
    one.wait_p95 = row.recent_wait.times.p95;
  }
  std::erase_if(opened_, [&](const auto& entry) {
    return std::none_of(overview.classes.begin(), overview.classes.end(),
                        [&](const ClassRow& row) { return row.name == entry.first; });
  });
  std::int64_t rejected = 0;
  for (const RejectionRow& row : overview.rejections)
    rejected += row.count;
  const std::int64_t before = std::exchange(rejected_, rejected);
  sample.rejected = first ? 0 : growth(rejected, before);
  if (samples_.size() > kSamplesMax) samples_.pop_front();
  add_stays(now, overview.replicas);
}

void History::add_stays(WallTime now, const std::vector<ReplicaRow>& replicas) {
  std::map<std::string, Stay, std::less<>> seen;
  for (const ReplicaRow& row : replicas)
    if (row.role == "replica") seen[row.name] = {now, row.pool, row.borrowed, row.up && !row.draining};
  for (auto& [name, stays] : stays_)
    if (!seen.contains(name)) seen[name] = {now, "", false, false};
  const WallTime begin = samples_.front().time;
  for (auto& [name, stay] : seen) {
    std::deque<Stay>& stays = stays_[name];
    if (stays.empty() || !stays.back().same_place(stay)) stays.push_back(stay);
    // The one that lasted into the first sample is kept.
    while (stays.size() > 1 && stays[1].since <= begin)
      stays.pop_front();
  }
  std::erase_if(stays_, [](const auto& entry) {
    return entry.second.size() == 1 && entry.second.front().pool.empty();
  });
}

}  // namespace sluice::admin
