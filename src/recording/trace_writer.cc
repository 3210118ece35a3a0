#include "recording/trace_writer.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice::recording {
namespace {

// The longest records: a configuration, and queries of ten bytes twice.
constexpr std::size_t kRecordBytesMax = std::max(kConfigurationBytesMax, kQueriesMax * 20) + 128;
static_assert(kRecordBytesMax < kBlockRawBytesMax / 2);

}  // namespace

TraceWriter::TraceWriter(const Settings& settings) : settings_(settings), encoder_(records_, Offset(0)) {
  SLUICE_ASSERT(settings.block_bytes >= 1 && settings.block_bytes <= kBlockRawBytesMax - kRecordBytesMax);
}

void TraceWriter::begin_file(std::int64_t began_us) {
  for (auto& names : names_)
    names.clear();
  who_.clear();
  records_.clear();
  ready_.clear();
  append_file_header(ready_, {kVersion, began_us});
  file_bytes_ = ready_.size();
}

NameId TraceWriter::name(NameKind kind, std::string_view text) {
  auto& names = names_[static_cast<std::size_t>(kind)];
  text = text.substr(0, kNameBytesMax);
  if (const auto found = names.find(text); found != names.end()) return found->second;
  if (names.size() > kNameIdMax) return kNameIdMax;
  const auto id = static_cast<NameId>(names.size());
  names.emplace(text, id);
  add(Name{kind, id, std::string(text)});
  return id;
}

NameId TraceWriter::who(const Who& who) {
  const WhoKey key{who.session_class, who.host, who.user, who.database};
  if (const auto found = who_.find(key); found != who_.end()) return found->second;
  if (who_.size() > kNameIdMax) return kNameIdMax;
  Who named = who;
  named.id = static_cast<NameId>(who_.size());
  who_.emplace(key, named.id);
  add(named);
  return named.id;
}

namespace {

Offset moment_of(const Record& record) {
  if (const auto* admission = std::get_if<Admission>(&record)) return admission->at;
  if (const auto* end = std::get_if<End>(&record)) return end->at;
  if (const auto* whole = std::get_if<Whole>(&record)) return whole->at;
  if (const auto* configuration = std::get_if<Configuration>(&record)) return configuration->at;
  return Offset(0);
}

}  // namespace

void TraceWriter::begin_block_at(Offset at) {
  base_ = std::clamp(at, Offset(0), Offset(kSpanMax));
  encoder_.start(base_);
}

void TraceWriter::end_if_full() {
  if (records_.size() >= settings_.block_bytes) flush();
}

void TraceWriter::add(const Record& record) {
  if (records_.empty()) begin_block_at(moment_of(record));
  encoder_.put(record);
  end_if_full();
}

void TraceWriter::add(const Whole& whole) {
  if (records_.empty()) begin_block_at(whole.at);
  encoder_.put(whole);
  end_if_full();
}

void TraceWriter::flush() {
  if (records_.empty()) return;
  const std::size_t before = ready_.size();
  append_block(ready_, records_, base_);
  file_bytes_ += ready_.size() - before;
  records_.clear();
}

}  // namespace sluice::recording
