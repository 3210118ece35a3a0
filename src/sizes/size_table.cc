#include "sizes/size_table.h"

#include <algorithm>
#include <bit>

namespace sluice::sizes {
namespace {

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;

// As in SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
std::uint64_t scatter(std::uint64_t z) noexcept {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  return (std::rotl(hash, 5) ^ value) * kFactor;
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) noexcept {
  const std::size_t length = text.size();
  for (; text.size() > 8; text.remove_prefix(8)) {
    std::uint64_t piece = 0;
    for (std::size_t i = 0; i < 8; ++i)
      piece = piece << 8 | static_cast<std::uint8_t>(text[i]);
    hash = mix(hash, piece);
  }
  std::uint64_t piece = 0;
  for (const char c : text)
    piece = piece << 8 | static_cast<std::uint8_t>(c);
  return mix(mix(hash, piece), length);
}

std::string cut(const std::string& text) {
  return text.substr(0, SizeTable::kTextBytesMax);
}

}  // namespace

Key owner_key(const OwnerView& owner) noexcept {
  std::uint64_t hash = mix(std::uint64_t{1}, owner.user);
  hash = mix(hash, owner.database);
  hash = mix(hash, static_cast<std::uint64_t>(owner.kind) + 1);
  return scatter(mix(hash, owner.label));
}

Key work_key(Key owner, std::uint64_t statement) noexcept {
  const Key key = scatter(mix(owner, statement));
  return key != 0 ? key : 1;
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
  shrink(entries_max_);
}

void SizeTable::shrink(std::size_t to) {
  while (by_key_.size() > to) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
    ++forgotten_;
  }
}

void SizeTable::introduce(const Introduction& introduction) {
  if (entries_max_ == 0 || by_key_.contains(introduction.key)) return;
  shrink(entries_max_ - 1);
  SizeRow row;
  row.owner = {cut(introduction.owner.user), cut(introduction.owner.database), introduction.owner.kind,
               cut(introduction.owner.label)};
  row.statement = introduction.statement;
  row.outline = cut(introduction.outline);
  entries_.push_front({introduction.key, std::move(row)});
  by_key_.emplace(introduction.key, entries_.begin());
}

void SizeTable::add(const Batch& batch, Time now) {
  for (const Introduction& introduction : batch.introductions)
    introduce(introduction);
  for (const Sample& sample : batch.samples) {
    const auto found = by_key_.find(sample.key);
    if (found == by_key_.end()) continue;
    found->second->row.size.add(sample.seconds);
    found->second->row.last_seen = now;
    entries_.splice(entries_.begin(), entries_, found->second);
  }
}

std::shared_ptr<const Expectations> SizeTable::expectations(Time now, std::chrono::nanoseconds age) {
  if (expectations_of_ && now - *expectations_of_ < age) return expectations_;
  std::vector<Sample> all;
  all.reserve(entries_.size());
  for (const Entry& entry : entries_)
    all.push_back({entry.key, entry.row.size.expected().value_or(-1)});
  expectations_ = std::make_shared<const Expectations>(all);
  expectations_of_ = now;
  return expectations_;
}

std::vector<SizeRow> SizeTable::rows() const {
  std::vector<SizeRow> rows;
  rows.reserve(entries_.size());
  for (const Entry& entry : entries_)
    rows.push_back(entry.row);
  return rows;
}

}  // namespace sluice::sizes
