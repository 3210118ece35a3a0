#include "sizes/size_table.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>

namespace sluice::sizes {
namespace {

class KeyedHash {
 public:
  explicit KeyedHash(const Secret& secret) noexcept
      : a_(secret[0] ^ 0x736F6D6570736575),
        b_(secret[1] ^ 0x646F72616E646F6D),
        c_(secret[0] ^ 0x6C7967656E657261),
        d_(secret[1] ^ 0x7465646279746573) {}

  void add(std::uint64_t word) noexcept {
    d_ ^= word;
    round();
    round();
    a_ ^= word;
  }
  void add(std::string_view text) noexcept {
    add(text.size());
    for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t piece = 0;
      for (const char c : text.substr(at, sizeof(piece)))
        piece = piece << 8 | static_cast<std::uint8_t>(c);
      add(piece);
    }
  }
  std::uint64_t value() noexcept {
    c_ ^= 0xFF;
    for (int i = 0; i < 4; ++i)
      round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void round() noexcept {
    a_ += b_;
    b_ = std::rotl(b_, 13) ^ a_;
    a_ = std::rotl(a_, 32);
    c_ += d_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ += d_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ += b_;
    b_ = std::rotl(b_, 17) ^ c_;
    c_ = std::rotl(c_, 32);
  }

  std::uint64_t a_, b_, c_, d_;
};

std::string cut(const std::string& text) {
  return text.substr(0, SizeTable::kTextBytesMax);
}

}  // namespace

Key owner_key(const Secret& secret, const OwnerView& owner) noexcept {
  KeyedHash hash(secret);
  hash.add(owner.user);
  hash.add(owner.database);
  hash.add(static_cast<std::uint64_t>(owner.kind));
  hash.add(owner.label);
  return std::max<Key>(1, hash.value());
}

Key work_key(const Secret& secret, Key owner, std::uint64_t statement) noexcept {
  KeyedHash hash(secret);
  hash.add(owner);
  hash.add(statement);
  return std::max<Key>(1, hash.value());
}

Expectations::Expectations(const std::vector<Sample>& expected) : size_(expected.size()) {
  if (expected.empty()) return;
  slots_.resize(std::bit_ceil(expected.size() * 2), Sample{0, 0});
  for (const Sample& one : expected) {
    std::size_t at = one.key & (slots_.size() - 1);
    while (slots_[at].key != 0)
      at = (at + 1) & (slots_.size() - 1);
    slots_[at] = one;
  }
}

const Sample* Expectations::find(Key key) const noexcept {
  if (slots_.empty()) return nullptr;
  for (std::size_t at = key & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].key == key) return &slots_[at];
    if (slots_[at].key == 0) return nullptr;
  }
}

void SizeTable::set_entries_max(std::size_t entries_max) {
  entries_max_ = entries_max;
  while (size() > entries_max_)
    forget_oldest();
}

void SizeTable::forget(Entries::iterator entry) {
  const bool used = entry->row.size.count() > 0;
  if (used) {
    entry->group->second.erase(entry->in_group);
    if (entry->group->second.empty()) groups_.erase(entry->group);
  }
  by_key_.erase(entry->key);
  (used ? entries_ : newcomers_).erase(entry);
  ++forgotten_;
}

void SizeTable::forget_oldest() {
  forget(std::prev((newcomers_.empty() ? entries_ : newcomers_).end()));
}

void SizeTable::make_room(const Owner& owner) {
  if (size() < entries_max_) return;
  if (entries_.empty() || newcomers_.size() > entries_max_ / kNewShare) return forget_oldest();
  const auto group = groups_.find({owner.user, owner.database});
  const bool has_its_share = group != groups_.end() && group->second.size() * kShare >= entries_max_;
  forget(has_its_share ? group->second.back() : std::prev(entries_.end()));
}

void SizeTable::introduce(const Introduction& introduction) {
  if (entries_max_ == 0 || by_key_.contains(introduction.key)) return;
  Entry entry{introduction.key, {}, {}, {}};
  SizeRow& row = entry.row;
  row.owner = {cut(introduction.owner.user), cut(introduction.owner.database), introduction.owner.kind,
               cut(introduction.owner.label)};
  row.statement = introduction.statement;
  row.outline = cut(introduction.outline);
  make_room(row.owner);
  newcomers_.push_front(std::move(entry));
  by_key_.emplace(introduction.key, newcomers_.begin());
}

// Puts it in front of all, before it gets its sample.
void SizeTable::use(Entries::iterator entry) {
  if (entry->row.size.count() > 0) {
    Group& group = entry->group->second;
    group.splice(group.begin(), group, entry->in_group);
    entries_.splice(entries_.begin(), entries_, entry);
    return;
  }
  const Owner& owner = entry->row.owner;
  entry->group = groups_.try_emplace({owner.user, owner.database}).first;
  entry->in_group = entry->group->second.insert(entry->group->second.begin(), entry);
  entries_.splice(entries_.begin(), newcomers_, entry);
}

void SizeTable::add(const Batch& batch, Time now) {
  for (const Introduction& introduction : batch.introductions)
    introduce(introduction);
  for (const Sample& sample : batch.samples) {
    const auto found = by_key_.find(sample.key);
    if (found == by_key_.end()) continue;
    use(found->second);
    found->second->row.size.add(sample.seconds);
    found->second->row.last_seen = now;
  }
}

std::shared_ptr<const Expectations> SizeTable::expectations(Time now, std::chrono::nanoseconds age) {
  if (expectations_of_ && now - *expectations_of_ < age) return expectations_;
  std::vector<Sample> all;
  all.reserve(size());
  for (const Entries* const entries : {&entries_, &newcomers_})
    for (const Entry& entry : *entries)
      all.push_back({entry.key, entry.row.size.expected().value_or(-1)});
  expectations_ = std::make_shared<const Expectations>(all);
  expectations_of_ = now;
  return expectations_;
}

std::vector<SizeRow> SizeTable::rows() const {
  std::vector<SizeRow> rows;
  rows.reserve(size());
  for (const Entries* const entries : {&entries_, &newcomers_})
    for (const Entry& entry : *entries)
      rows.push_back(entry.row);
  return rows;
}

}  // namespace sluice::sizes
