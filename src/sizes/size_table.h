#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sizes/size_estimate.h"

namespace sluice::sizes {

// Whose work it is, as far as its size may depend on that: a session's, or that of a request's route.
struct Owner {
  enum class Kind : std::uint8_t { Application, Route };

  std::string user, database;
  Kind kind = Kind::Application;
  std::string label;  // application_name, or the route
};

// Stands for an owner, and with a statement for one kind of work. Never 0. Who does not know the secret can
// aim at no other's key, nor at a part of a table; who has it may leave owners uncompared.
// Source: SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012).
using Key = std::uint64_t;
using Secret = std::array<std::uint64_t, 2>;
struct OwnerView {
  std::string_view user, database;
  Owner::Kind kind = Owner::Kind::Application;
  std::string_view label;
};
Key owner_key(const Secret&, const OwnerView&) noexcept;
// `statement`: its fingerprint; 0 for whole sessions.
Key work_key(const Secret&, Key owner, std::uint64_t statement) noexcept;

// One piece of work that is done, and its service time.
struct Sample {
  Key key;
  double seconds;
};
// What a key stands for, once for each that the table does not know.
struct Introduction {
  Key key;
  Owner owner;
  std::uint64_t statement = 0;
  std::string outline;
};
// What one thread has seen since it last told the table.
struct Batch {
  std::vector<Introduction> introductions;
  std::vector<Sample> samples;
};

// What is expected of each kind of work, at one moment. Immutable, so that threads may share it.
class Expectations {
 public:
  Expectations() = default;
  explicit Expectations(const std::vector<Sample>& expected);  // distinct keys; seconds < 0: not known yet

  bool contains(Key key) const noexcept { return find(key) != nullptr; }
  std::optional<double> expected(Key key) const noexcept {
    const Sample* const found = find(key);
    return found != nullptr && found->seconds >= 0 ? std::optional(found->seconds) : std::nullopt;
  }
  std::size_t size() const noexcept { return size_; }

 private:
  const Sample* find(Key key) const noexcept;

  std::vector<Sample> slots_;  // open addressing, a power of two, at most half full; key 0: free
  std::size_t size_ = 0;
};

struct SizeRow {
  Owner owner;
  std::uint64_t statement = 0;
  std::string outline;
  SizeEstimate size;
  std::chrono::nanoseconds last_seen{};
};

// What is known of the sizes of all kinds of work, of which the longest unused give way to new ones.
// Shape:  at most entries_max kinds, 1 KiB each and what their texts need. What was not introduced is not
//         counted.
// Fair:   in a full table kinds without a sample have an eighth for themselves, and the kinds of a user in a
//         database push out each other once they have kShare of it: so nobody pushes out all that others
//         need, however many kinds he makes up.
// Thread: none of its own. Time comes from the caller and never goes back.
class SizeTable {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::size_t kShare = 4, kNewShare = 8;  // a fourth, an eighth
  static constexpr std::size_t kTextBytesMax = 256;  // of each text of an introduction; the rest is cut off

  explicit SizeTable(std::size_t entries_max) noexcept : entries_max_(entries_max) {}

  // 0: what is known is forgotten, and nothing learned.
  void set_entries_max(std::size_t entries_max);
  void add(const Batch& batch, Time now);
  // Of now, or of less than `age` ago.
  std::shared_ptr<const Expectations> expectations(Time now, std::chrono::nanoseconds age);
  std::vector<SizeRow> rows() const;  // the last used first; those without a sample behind
  std::size_t size() const noexcept { return by_key_.size(); }
  std::uint64_t forgotten() const noexcept { return forgotten_; }  // kinds, for want of room

 private:
  struct Entry;
  using Entries = std::list<Entry>;
  using Group = std::list<Entries::iterator>;  // of a user in a database; the last used first
  using Groups = std::map<std::pair<std::string, std::string>, Group>;
  struct Entry {
    Key key;
    SizeRow row;
    Groups::iterator group{};  // with its first sample
    Group::iterator in_group{};
  };

  void introduce(const Introduction& introduction);
  void make_room(const Owner& owner);
  void use(Entries::iterator entry);
  void forget(Entries::iterator entry);
  void forget_oldest();

  std::size_t entries_max_;
  Entries entries_;    // the last used first
  Entries newcomers_;  // without a sample, the newest first
  Groups groups_;
  std::unordered_map<Key, Entries::iterator> by_key_;
  std::shared_ptr<const Expectations> expectations_ = std::make_shared<const Expectations>();
  std::optional<Time> expectations_of_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace sluice::sizes
