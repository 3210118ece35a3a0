#include "pooling/request_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace sluice::pooling {
namespace {

constexpr std::size_t kCompactAt = 64;    // answered entries kept in front
constexpr std::size_t kKeptEntries = 64;  // capacity kept when empty

// Kinds of which a run is one entry.
bool merges(RequestKind kind) noexcept {
  return kind == RequestKind::Plain || kind == RequestKind::UnnamedParse || kind == RequestKind::CopyEnd;
}

}  // namespace

bool RequestQueue::special(const Entry& entry) noexcept {
  return entry.detail != nullptr && entry.kind != RequestKind::Plain && entry.kind != RequestKind::Replayable;
}

void RequestQueue::count(const Entry& entry, int sign) noexcept {
  const std::size_t one = static_cast<std::size_t>(sign);  // wraps for -1, as does the sum
  if (ends_with_ready(entry.kind)) ready_count_ += one;
  if (special(entry)) special_count_ += one;
  if (entry.detail != nullptr && entry.detail->commits) commit_count_ += one;
}

void RequestQueue::push(RequestKind kind, Detail detail) {
  if (!empty() && merges(kind) && back().kind == kind && !detail && !back().detail &&
      back().count < UINT32_MAX) {
    ++entries_.back().count;
    return;
  }
  entries_.push_back(Entry{kind, 1, std::move(detail)});
  if (special(entries_.back())) ready_since_special_ = false;
  if (ends_with_ready(kind)) ready_since_special_ = true;
  count(entries_.back(), 1);
}

RequestQueue::Detail RequestQueue::pop() {
  SLUICE_ASSERT(!empty());
  Entry& entry = front();
  if (entry.count > 1) {
    --entry.count;
    return nullptr;
  }
  count(entry, -1);
  Detail detail = std::move(entry.detail);
  ++first_;
  drop_copy_ends();
  return detail;
}

void RequestQueue::drop_copy_ends() noexcept {
  while (!empty() && front().kind == RequestKind::CopyEnd)
    ++first_;
  if (empty()) {
    entries_.clear();
    first_ = 0;
    if (entries_.capacity() > kKeptEntries) std::vector<Entry>().swap(entries_);
  } else if (first_ >= kCompactAt && first_ * 2 >= entries_.size()) {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

bool RequestQueue::contains(RequestKind kind) const noexcept {
  return std::any_of(entries_.begin() + static_cast<std::ptrdiff_t>(first_), entries_.end(),
                     [&](const Entry& entry) { return entry.kind == kind; });
}

bool RequestQueue::contains_listen() const noexcept {
  return std::any_of(
      entries_.begin() + static_cast<std::ptrdiff_t>(first_), entries_.end(), [](const Entry& entry) {
        return entry.detail && std::any_of(entry.detail->steps.begin(), entry.detail->steps.end(),
                                           [](const SqlStep& step) { return listens(step.action); });
      });
}

bool RequestQueue::only_plain_behind_front() const noexcept {
  for (std::size_t i = first_ + 1; i < entries_.size(); ++i) {
    const RequestKind kind = entries_[i].kind;
    if (kind != RequestKind::Plain && !(kind == RequestKind::Sync && i + 1 == entries_.size())) return false;
  }
  return true;
}

void RequestQueue::skip_to_sync(std::vector<Entry>& skipped) {
  while (!empty() && front().kind != RequestKind::Sync && front().kind != RequestKind::InjectedSync) {
    count(front(), -1);
    skipped.push_back(std::move(front()));
    ++first_;
  }
  drop_copy_ends();
}

bool RequestQueue::on_copy_in(std::uint32_t& syncs_dropped) {
  if (empty() || front().kind == RequestKind::Sync) return false;
  if (front().count > 1) return true;
  std::size_t index = first_ + 1;
  while (index < entries_.size()) {
    Entry& entry = entries_[index];
    if (entry.kind == RequestKind::Sync) {
      ++syncs_dropped;
      remove(index);
      continue;
    }
    if (entry.kind == RequestKind::CopyEnd) {
      if (entry.count > 1)
        --entry.count;
      else
        remove(index);
    }
    return true;
  }
  return false;
}

void RequestQueue::remove(std::size_t index) {
  count(entries_[index], -1);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
}

void RequestQueue::clear() noexcept {
  entries_.clear();
  first_ = ready_count_ = special_count_ = commit_count_ = 0;
}

bool RequestQueue::check_invariant() const noexcept {
  std::size_t ready = 0;
  std::size_t specials = 0;
  std::size_t commits = 0;
  for (std::size_t i = first_; i < entries_.size(); ++i) {
    if (entries_[i].count == 0) return false;
    ready += ends_with_ready(entries_[i].kind) ? 1 : 0;
    specials += special(entries_[i]) ? 1 : 0;
    commits += entries_[i].detail != nullptr && entries_[i].detail->commits ? 1 : 0;
  }
  return ready == ready_count_ && specials == special_count_ && commits == commit_count_ &&
         (empty() || front().kind != RequestKind::CopyEnd);
}

}  // namespace sluice::pooling
