#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "recording/varint.h"

namespace sluice::recording {

// Since the trace began.
using Offset = std::chrono::microseconds;

// What a record of a trace may name. Ids are small numbers of the trace's own, apart for each kind.
enum class NameKind : std::uint8_t { Class, Replica, Host, User, Database };
inline constexpr std::size_t kNameKindCount = 5;
using NameId = std::uint32_t;

inline constexpr std::size_t kNameBytesMax = 256;
inline constexpr NameId kNameIdMax = 1'000'000;
inline constexpr std::size_t kConfigurationBytesMax = 256 * 1024;
inline constexpr std::size_t kQueriesMax = 4'096;  // of one record
inline constexpr std::chrono::microseconds kSpanMax{std::chrono::hours(24 * 366)};

// Says what an id stands for, before its first use in the trace.
struct Name {
  NameKind kind = NameKind::Class;
  NameId id = 0;
  std::string text;
  friend bool operator==(const Name&, const Name&) = default;
};

// The policy from here on, as the configuration event of `sluice decide`.
struct Configuration {
  Offset at{};
  std::string json;
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

// Who is served first among those of one class that wait, from here on: queue_discipline and queue_ageing.
// Since version 2; before it was not recorded.
enum class QueueOrder : std::uint8_t { Fcfs, ShortestFirst };
struct Queue {
  Offset at{};
  QueueOrder order = QueueOrder::Fcfs;
  std::chrono::microseconds ageing{};  // 0: never
  friend bool operator==(const Queue&, const Queue&) = default;
};

// A session, or in transaction mode a transaction, was given a replica.
struct Admission {
  std::uint64_t number = 0;            // of its own in the trace; what belongs to it bears it too
  Offset at{};                         // when it asked
  std::chrono::microseconds waited{};  // in the queue
  bool transaction = false;
  NameId session_class = 0;
  std::optional<NameId> replica;  // none: refused
  std::optional<NameId> host, user, database;
  std::optional<std::chrono::microseconds> expected_size;  // its service time, before it began
  friend bool operator==(const Admission&, const Admission&) = default;
};

// One query: the pause before it, since the answer before or since the replica was given, and how long its
// answer took.
struct Query {
  std::chrono::microseconds pause{}, response{};
  friend bool operator==(const Query&, const Query&) = default;
};

// The next queries of an admission, in order: a long session has several of these.
struct Queries {
  std::uint64_t number = 0;
  std::vector<Query> queries;
  friend bool operator==(const Queries&, const Queries&) = default;
};

struct End {
  std::uint64_t number = 0;
  Offset at{};
  friend bool operator==(const End&, const End&) = default;
};

// Those that are alike in all of these: an id of its own, named before it is used, as of names. Since
// version 3.
struct Who {
  NameId id = 0;
  NameId session_class = 0;
  std::optional<NameId> host, user, database;
  friend bool operator==(const Who&, const Who&) = default;
};

// A session, or in transaction mode a transaction, from its admission to its end: what Admission, Queries and
// End say, in one record, which needs no number. Since version 3.
struct Whole {
  Offset at{};                         // when it asked
  std::chrono::microseconds waited{};  // in the queue
  bool transaction = false;
  NameId who = 0;
  std::optional<NameId> replica;                           // none: refused
  std::optional<std::chrono::microseconds> expected_size;  // its service time, before it began
  std::vector<Query> queries;
  std::chrono::microseconds tail{};  // from the last answer, or the admission, to the end
  friend bool operator==(const Whole&, const Whole&) = default;
};

using Record = std::variant<Name, Configuration, Queue, Admission, Queries, End, Who, Whole>;

// Records one after the other; moments as differences from the one before, from `base` at first.
class RecordEncoder {
 public:
  RecordEncoder(Bytes& out, Offset base) noexcept : out_(out), last_(base) {}
  void start(Offset base) noexcept { last_ = base; }
  // Spans and numbers beyond their bounds are cut to them.
  void put(const Record&);
  void put(const Whole&);  // most of what is recorded is of this kind

 private:
  void put_record(const Name&);
  void put_record(const Configuration&);
  void put_record(const Queue&);
  void put_record(const Admission&);
  void put_record(const Queries&);
  void put_record(const End&);
  void put_record(const Who&);
  void put_record(const Whole& whole) { put(whole); }
  std::int64_t step_to(Offset);
  void put_moment(Offset);

  Bytes& out_;
  Offset last_;
};

class RecordDecoder {
 public:
  RecordDecoder(ByteView bytes, Offset base) noexcept : in_(bytes), last_(base) {}
  bool at_end() const noexcept { return in_.remaining() == 0; }
  // nullopt when what is next is no record: then nothing after it can be read either.
  std::optional<Record> next();

 private:
  std::optional<Record> name();
  std::optional<Record> configuration();
  std::optional<Record> queue();
  std::optional<Record> admission();
  std::optional<Record> queries();
  std::optional<Record> end();
  std::optional<Record> who();
  std::optional<Record> whole(std::uint8_t kind);
  std::optional<Offset> moment();
  std::optional<std::chrono::microseconds> span();
  std::optional<NameId> id();
  bool maybe_id(std::optional<NameId>&);
  bool maybe_span(std::optional<std::chrono::microseconds>&);
  bool queries(std::vector<Query>&, std::uint64_t count);

  VarintReader in_;
  Offset last_;
};

}  // namespace sluice::recording
