#include "recording/record.h"

#include <algorithm>

namespace sluice::recording {
namespace {

using std::chrono::microseconds;

enum class Kind : std::uint8_t { Name = 1, Configuration, Session, Transaction, Queries, End, Queue };

void put_span(Bytes& out, microseconds span) {
  put_varint(out, static_cast<std::uint64_t>(std::clamp(span, microseconds(0), kSpanMax).count()));
}

// 0 is none.
void put_maybe_id(Bytes& out, const std::optional<NameId>& id) {
  put_varint(out, id ? std::uint64_t{std::min(*id, kNameIdMax)} + 1 : 0);
}

}  // namespace

void RecordEncoder::put(const Record& record) {
  std::visit([this](const auto& r) { put_record(r); }, record);
}

void RecordEncoder::put_moment(Offset at) {
  const Offset bounded = std::clamp(at, Offset(0), kSpanMax);
  put_zigzag(out_, (bounded - last_).count());
  last_ = bounded;
}

void RecordEncoder::put_record(const Name& name) {
  put_fixed(out_, static_cast<std::uint8_t>(Kind::Name));
  put_fixed(out_, static_cast<std::uint8_t>(name.kind));
  put_varint(out_, std::min(name.id, kNameIdMax));
  put_text(out_, std::string_view(name.text).substr(0, kNameBytesMax));
}

void RecordEncoder::put_record(const Configuration& configuration) {
  if (configuration.json.size() > kConfigurationBytesMax) return;  // a part of it would be worse than none
  put_fixed(out_, static_cast<std::uint8_t>(Kind::Configuration));
  put_moment(configuration.at);
  put_text(out_, configuration.json);
}

void RecordEncoder::put_record(const Queue& queue) {
  put_fixed(out_, static_cast<std::uint8_t>(Kind::Queue));
  put_moment(queue.at);
  put_fixed(out_, static_cast<std::uint8_t>(queue.order));
  put_span(out_, queue.ageing);
}

void RecordEncoder::put_record(const Admission& admission) {
  put_fixed(out_, static_cast<std::uint8_t>(admission.transaction ? Kind::Transaction : Kind::Session));
  put_varint(out_, admission.number);
  put_moment(admission.at);
  put_span(out_, admission.waited);
  put_varint(out_, std::min(admission.session_class, kNameIdMax));
  for (const auto* id : {&admission.replica, &admission.host, &admission.user, &admission.database})
    put_maybe_id(out_, *id);
  if (admission.expected_size)
    put_varint(out_, static_cast<std::uint64_t>(
                         std::clamp(*admission.expected_size, microseconds(0), kSpanMax).count()) +
                         1);
  else
    put_varint(out_, 0);
}

void RecordEncoder::put_record(const Queries& queries) {
  put_fixed(out_, static_cast<std::uint8_t>(Kind::Queries));
  put_varint(out_, queries.number);
  const std::size_t count = std::min(queries.queries.size(), kQueriesMax);
  put_varint(out_, count);
  for (std::size_t i = 0; i < count; ++i) {
    put_span(out_, queries.queries[i].pause);
    put_span(out_, queries.queries[i].response);
  }
}

void RecordEncoder::put_record(const End& end) {
  put_fixed(out_, static_cast<std::uint8_t>(Kind::End));
  put_varint(out_, end.number);
  put_moment(end.at);
}

std::optional<Record> RecordDecoder::next() {
  const auto kind = in_.fixed<std::uint8_t>();
  if (!kind) return std::nullopt;
  switch (static_cast<Kind>(*kind)) {
    case Kind::Name:
      return name();
    case Kind::Configuration:
      return configuration();
    case Kind::Session:
      return admission();
    case Kind::Transaction: {
      auto record = admission();
      if (record) std::get<Admission>(*record).transaction = true;
      return record;
    }
    case Kind::Queries:
      return queries();
    case Kind::End:
      return end();
    case Kind::Queue:
      return queue();
  }
  return std::nullopt;
}

std::optional<Offset> RecordDecoder::moment() {
  const auto step = in_.zigzag();
  if (!step || *step > kSpanMax.count() || *step < -kSpanMax.count()) return std::nullopt;
  last_ += Offset(*step);
  if (last_ < Offset(0) || last_ > kSpanMax) return std::nullopt;
  return last_;
}

std::optional<microseconds> RecordDecoder::span() {
  const auto count = in_.varint();
  if (!count || *count > static_cast<std::uint64_t>(kSpanMax.count())) return std::nullopt;
  return microseconds(static_cast<std::int64_t>(*count));
}

std::optional<NameId> RecordDecoder::id() {
  const auto value = in_.varint();
  if (!value || *value > kNameIdMax) return std::nullopt;
  return static_cast<NameId>(*value);
}

bool RecordDecoder::maybe_id(std::optional<NameId>& id) {
  const auto value = in_.varint();
  if (!value || *value > std::uint64_t{kNameIdMax} + 1) return false;
  if (*value > 0) id = static_cast<NameId>(*value - 1);
  return true;
}

std::optional<Record> RecordDecoder::name() {
  const auto kind = in_.fixed<std::uint8_t>();
  if (!kind || *kind >= kNameKindCount) return std::nullopt;
  const auto id = this->id();
  if (!id) return std::nullopt;
  const auto text = in_.text(kNameBytesMax);
  if (!text) return std::nullopt;
  return Name{static_cast<NameKind>(*kind), *id, std::string(*text)};
}

std::optional<Record> RecordDecoder::configuration() {
  const auto at = moment();
  if (!at) return std::nullopt;
  const auto json = in_.text(kConfigurationBytesMax);
  if (!json) return std::nullopt;
  return Configuration{*at, std::string(*json)};
}

std::optional<Record> RecordDecoder::queue() {
  const auto at = moment();
  const auto order = at ? in_.fixed<std::uint8_t>() : std::nullopt;
  const auto ageing = order ? span() : std::nullopt;
  if (!ageing || *order > static_cast<std::uint8_t>(QueueOrder::ShortestFirst)) return std::nullopt;
  return Queue{*at, static_cast<QueueOrder>(*order), *ageing};
}

std::optional<Record> RecordDecoder::admission() {
  Admission out;
  const auto number = in_.varint();
  const auto at = number ? moment() : std::nullopt;
  const auto waited = at ? span() : std::nullopt;
  const auto session_class = waited ? id() : std::nullopt;
  if (!session_class) return std::nullopt;
  out.number = *number;
  out.at = *at;
  out.waited = *waited;
  out.session_class = *session_class;
  for (auto* id : {&out.replica, &out.host, &out.user, &out.database})
    if (!maybe_id(*id)) return std::nullopt;
  const auto size = in_.varint();
  if (!size || *size > static_cast<std::uint64_t>(kSpanMax.count()) + 1) return std::nullopt;
  if (*size > 0) out.expected_size = microseconds(static_cast<std::int64_t>(*size - 1));
  return out;
}

std::optional<Record> RecordDecoder::queries() {
  Queries out;
  const auto number = in_.varint();
  const auto count = number ? in_.varint() : std::nullopt;
  // Each takes two bytes or more: what cannot be there is not allocated for.
  if (!count || *count > kQueriesMax || *count > in_.remaining() / 2) return std::nullopt;
  out.number = *number;
  out.queries.reserve(static_cast<std::size_t>(*count));
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto pause = span();
    const auto response = pause ? span() : std::nullopt;
    if (!response) return std::nullopt;
    out.queries.push_back({*pause, *response});
  }
  return out;
}

std::optional<Record> RecordDecoder::end() {
  const auto number = in_.varint();
  const auto at = number ? moment() : std::nullopt;
  if (!at) return std::nullopt;
  return End{*number, *at};
}

}  // namespace sluice::recording
