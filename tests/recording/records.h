#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "sluice/rng.h"

#include "recording/trace_reader.h"
#include "recording/trace_writer.h"

namespace sluice::recording {

using std::chrono::microseconds;

// A few of every kind, with spans of all lengths.
inline std::vector<Record> some_records(std::size_t admissions, std::uint64_t seed) {
  Rng rng(seed);
  const auto span = [&] {
    return microseconds(static_cast<std::int64_t>(rng.below(1 + rng.below(1u << rng.below(30)))));
  };
  std::vector<Record> out = {Name{NameKind::Class, 0, "premium"},
                             Name{NameKind::Replica, 0, "r1"},
                             Name{NameKind::User, 0, ""},
                             Configuration{Offset(5), "{\"op\":\"config\"}"},
                             Queue{Offset(6), QueueOrder::ShortestFirst, microseconds(10'000'000)},
                             Who{0, 0, std::nullopt, 0, std::nullopt}};
  Offset now(0);
  for (std::uint64_t number = 0; number < admissions; ++number) {
    now += span();
    Admission a;
    a.number = number;
    a.at = now;
    a.waited = span();
    a.transaction = rng.below(2) == 0;
    if (rng.below(4) > 0) a.replica = static_cast<NameId>(rng.below(300));
    if (rng.below(2) == 0) a.user = static_cast<NameId>(rng.below(3));
    if (rng.below(2) == 0) a.expected_size = span();
    out.push_back(a);
    Queries queries{number, {}};
    for (std::uint64_t i = rng.below(5); i > 0; --i)
      queries.queries.push_back({span(), span()});
    out.push_back(queries);
    out.push_back(
        End{number, now - microseconds(static_cast<std::int64_t>(rng.below(1000)))});  // not in order
    if (std::get<End>(out.back()).at < Offset(0)) std::get<End>(out.back()).at = Offset(0);
    if (rng.below(2) == 0) continue;
    Whole whole;
    whole.at = now;
    whole.waited = span();
    whole.transaction = rng.below(2) == 0;
    whole.who = static_cast<NameId>(rng.below(300));
    if (rng.below(4) > 0) whole.replica = static_cast<NameId>(rng.below(3));
    if (rng.below(2) == 0) whole.expected_size = span();
    for (std::uint64_t i = rng.below(5); i > 0; --i)
      whole.queries.push_back({span(), span()});
    whole.tail = span();
    out.push_back(whole);
  }
  return out;
}

inline std::string file_of(const std::vector<Record>& records, std::size_t block_bytes) {
  TraceWriter writer({.block_bytes = block_bytes});
  writer.begin_file(1'234'567);
  for (const Record& record : records)
    writer.add(record);
  writer.flush();
  const Bytes bytes = writer.take();
  return std::string(as_text(bytes));
}

struct ReadTrace {
  FileHeader header;
  std::vector<Record> records;
  std::optional<Damage> damage;
};

inline ReadTrace read_all(const std::string& file) {
  std::istringstream in(file);
  TraceReader reader(in);
  ReadTrace out;
  while (auto record = reader.next())
    out.records.push_back(std::move(*record));
  out.header = reader.header();
  out.damage = reader.damage();
  return out;
}

}  // namespace sluice::recording
