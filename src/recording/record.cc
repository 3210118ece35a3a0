#include "recording/record.h"

#include <algorithm>
#include <utility>

namespace sluice::recording {
namespace {

using std::chrono::microseconds;

enum class Kind : std::uint8_t { Name = 1, Configuration, Session, Transaction, Queries, End, Queue, Who };

// The byte of a Whole says which of its fields are there: what most have alike takes no room.
constexpr std::uint8_t kWhole = 0x80, kTransaction = 0x40, kWaited = 0x20, kExpected = 0x10, kCount = 0x08,
                       kTail = 0x04;
constexpr std::uint8_t kNoWhole = 0x03;  // bits that no such byte has
// Of a Whole without its queries: that byte and seven numbers.
constexpr std::size_t kWholeBytesMax = 1 + 7 * kVarintBytesMax;

std::uint64_t in_bounds(microseconds span) noexcept {
  return static_cast<std::uint64_t>(std::clamp(span, microseconds(0), kSpanMax).count());
}

// Of what may be absent: 0 is none.
std::uint64_t maybe(const std::optional<NameId>& id) noexcept {
  return id ? std::uint64_t{std::min(*id, kNameIdMax)} + 1 : 0;
}
std::uint64_t maybe(const std::optional<microseconds>& span) noexcept {
  return span ? in_bounds(*span) + 1 : 0;
}

void put_span(Bytes& out, microseconds span) {
  put_varint(out, in_bounds(span));
}

}  // namespace

void RecordEncoder::put(const Record& record) {
  std::visit([this](const auto& r) { put_record(r); }, record);
}

// From the moment of the record before.
std::int64_t RecordEncoder::step_to(Offset at) {
  const Offset bounded = std::clamp(at, Offset(0), kSpanMax);
  return (bounded - std::exchange(last_, bounded)).count();
}

void RecordEncoder::put_moment(Offset at) {
  put_zigzag(out_, step_to(at));
}

// Room is made once for all of it: byte by byte it would take several times as long.
void RecordEncoder::put(const Whole& whole) {
  const std::size_t count = std::min(whole.queries.size(), kQueriesMax), before = out_.size();
  out_.resize(before + kWholeBytesMax + 2 * kVarintBytesMax * count);
  std::byte* const begin = out_.data() + before;
  std::uint8_t kind = whole.transaction ? kWhole | kTransaction : kWhole;
  std::byte* end = put_varint(begin + 1, zigzag_of(step_to(whole.at)));
  end = put_varint(end, std::min(whole.who, kNameIdMax));
  end = put_varint(end, maybe(whole.replica));
  const auto put_unless = [&](std::uint64_t usual, std::uint64_t value, std::uint8_t flag) {
    if (value == usual) return;
    kind |= flag;
    end = put_varint(end, value);
  };
  put_unless(0, in_bounds(whole.waited), kWaited);
  put_unless(0, maybe(whole.expected_size), kExpected);
  put_unless(1, count, kCount);
  for (std::size_t i = 0; i < count; ++i) {
    end = put_varint(end, in_bounds(whole.queries[i].pause));
    end = put_varint(end, in_bounds(whole.queries[i].response));
  }
  put_unless(0, in_bounds(whole.tail), kTail);
  *begin = static_cast<std::byte>(kind);
  out_.resize(static_cast<std::size_t>(end - out_.data()));
}

void RecordEncoder::put_record(const Who& who) {
  put_fixed(out_, static_cast<std::uint8_t>(Kind::Who));
  put_varint(out_, std::min(who.id, kNameIdMax));
  put_varint(out_, std::min(who.session_class, kNameIdMax));
  for (const auto* id : {&who.host, &who.user, &who.database})
    put_varint(out_, maybe(*id));
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
    put_varint(out_, maybe(*id));
  put_varint(out_, maybe(admission.expected_size));
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
  if ((*kind & kWhole) != 0) return whole(*kind);
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
    case Kind::Who:
      return who();
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

bool RecordDecoder::maybe_span(std::optional<microseconds>& span) {
  const auto value = in_.varint();
  if (!value || *value > static_cast<std::uint64_t>(kSpanMax.count()) + 1) return false;
  if (*value > 0) span = microseconds(static_cast<std::int64_t>(*value - 1));
  return true;
}

bool RecordDecoder::queries(std::vector<Query>& out, std::uint64_t count) {
  // Each takes two bytes or more: what cannot be there is not allocated for.
  if (count > kQueriesMax || count > in_.remaining() / 2) return false;
  out.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto pause = span();
    const auto response = pause ? span() : std::nullopt;
    if (!response) return false;
    out.push_back({*pause, *response});
  }
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
  if (!maybe_span(out.expected_size)) return std::nullopt;
  return out;
}

std::optional<Record> RecordDecoder::who() {
  Who out;
  const auto id = this->id();
  const auto session_class = id ? this->id() : std::nullopt;
  if (!session_class) return std::nullopt;
  out.id = *id;
  out.session_class = *session_class;
  for (auto* one : {&out.host, &out.user, &out.database})
    if (!maybe_id(*one)) return std::nullopt;
  return out;
}

std::optional<Record> RecordDecoder::whole(std::uint8_t kind) {
  if ((kind & kNoWhole) != 0) return std::nullopt;
  Whole out;
  out.transaction = (kind & kTransaction) != 0;
  const auto at = moment();
  const auto who = at ? id() : std::nullopt;
  if (!who || !maybe_id(out.replica)) return std::nullopt;
  const auto waited = (kind & kWaited) != 0 ? span() : microseconds(0);
  if (!waited || ((kind & kExpected) != 0 && !maybe_span(out.expected_size))) return std::nullopt;
  const auto count = (kind & kCount) != 0 ? in_.varint() : 1;
  if (!count || !queries(out.queries, *count)) return std::nullopt;
  const auto tail = (kind & kTail) != 0 ? span() : microseconds(0);
  if (!tail) return std::nullopt;
  out.at = *at;
  out.waited = *waited;
  out.who = *who;
  out.tail = *tail;
  return out;
}

std::optional<Record> RecordDecoder::queries() {
  Queries out;
  const auto number = in_.varint();
  const auto count = number ? in_.varint() : std::nullopt;
  if (!count || !queries(out.queries, *count)) return std::nullopt;
  out.number = *number;
  return out;
}

std::optional<Record> RecordDecoder::end() {
  const auto number = in_.varint();
  const auto at = number ? moment() : std::nullopt;
  if (!at) return std::nullopt;
  return End{*number, *at};
}

}  // namespace sluice::recording
