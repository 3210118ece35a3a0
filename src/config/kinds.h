#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/ratio.h"
#include "sluice/weight.h"

#include "config/enums.h"
#include "config/network.h"

namespace sluice::config {

// Names with a time or a number each, in the file's order; names are unique.
using NamedTimes = std::vector<std::pair<std::string, std::chrono::nanoseconds>>;
using NamedNumbers = std::vector<std::pair<std::string, double>>;

// Where a route's number of serial calls comes from.
struct SerialCalls {
  enum class Source { Profile, Calibrated, Fixed };
  Source source = Source::Profile;
  double number = 0;  // of Fixed

  friend bool operator==(const SerialCalls&, const SerialCalls&) = default;
};

}  // namespace sluice::config

// The kinds of values that rows of options.def and tables/*.def name in their first column. The kind carries
// the unit. `Value` is the type of the struct's member; `initial` turns the row's default into it.
namespace sluice::config::kind {

struct Seconds {
  using Value = std::chrono::seconds;
  static Value initial(std::int64_t v) { return Value(v); }
};
struct Milliseconds {
  using Value = std::chrono::milliseconds;
  static Value initial(std::int64_t v) { return Value(v); }
};
struct Count {
  using Value = std::uint32_t;
  static Value initial(std::uint32_t v) { return v; }
};
struct Bytes {
  using Value = std::uint64_t;
  static Value initial(std::uint64_t v) { return v; }
};
struct Flag {
  using Value = bool;
  static Value initial(bool v) { return v; }
};
struct Text {
  using Value = std::string;
  static Value initial(std::string_view v) { return Value(v); }
};
// A word that becomes a label in metrics and a name in the console: letters, digits and . _ - : / [ ] * % @
// only.
struct Name : Text {};
// Permissions of a file in octal, as chmod takes them: 0640. Owner, group and others alone.
struct FileMode {
  using Value = std::uint16_t;
  static Value initial(std::uint16_t v) { return v; }
};
// A file; relative ones are looked up from the configuration file's folder and made absolute.
struct Path : Text {};
// A list of words; in the file a YAML list, or one string with commas as PgBouncer writes it.
struct TextList {
  using Value = std::vector<std::string>;
  static Value initial(std::string_view comma_separated);
};
// Like TextList; each is a name or a pattern with * (any characters) and ? (one). Empty = any.
struct Patterns : TextList {};
struct NetworkList {
  using Value = Networks;
  static Value initial(std::string_view comma_separated);
};
// An exact decimal in [0, 1].
struct Fraction {
  using Value = Ratio;
  static Value initial(std::string_view v);
};

// An exact decimal in [0.001, 1000].
struct Weighting {
  using Value = Weight;
  static Value initial(std::string_view v);
};

// A set of keys, each with a time: a bare number is in milliseconds, and fractions are welcome.
struct Times {
  using Value = NamedTimes;
  static Value initial(std::string_view) { return {}; }
};
// A set of keys, each with a number.
struct Numbers {
  using Value = NamedNumbers;
  static Value initial(std::string_view) { return {}; }
};
// profile, calibrated, or a number.
struct Serial {
  using Value = SerialCalls;
  static Value initial(SerialCalls::Source source) { return {source, 0}; }
};

template <class E>
struct Choice {
  using Value = E;
  static Value initial(E v) { return v; }
};
using PolicyName = Choice<config::PolicyName>;
using ReplicaOrder = Choice<config::ReplicaOrder>;
using AuthMethod = Choice<config::AuthMethod>;
using SslMode = Choice<config::SslMode>;
using TlsUse = Choice<config::TlsUse>;
using Target = Choice<config::Target>;
using PoolMode = Choice<config::PoolMode>;
using Isolation = Choice<config::Isolation>;
using OnPin = Choice<config::OnPin>;
using PoolModeOf = Choice<config::PoolModeOf>;
using ReadOnly = Choice<config::ReadOnly>;
using ReadYourWrites = Choice<config::ReadYourWrites>;
using NoReplica = Choice<config::NoReplica>;
using SizeLearning = Choice<config::SizeLearning>;
using Discover = Choice<config::Discover>;
using ProxyProtocol = Choice<config::ProxyProtocol>;
using ProxyProtocolOf = Choice<config::ProxyProtocolOf>;
using LogLevel = Choice<config::LogLevel>;
using LogFormat = Choice<config::LogFormat>;
using TlsProtocols = Choice<config::TlsProtocols>;
using PlacementPolicy = Choice<config::PlacementPolicy>;
using QueueDiscipline = Choice<config::QueueDiscipline>;
using BudgetMode = Choice<config::BudgetMode>;
using RecordedNames = Choice<config::RecordedNames>;
using IoEngine = Choice<config::IoEngine>;

}  // namespace sluice::config::kind
