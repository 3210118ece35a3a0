#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::bench {

// When in a run a query was meant to begin.
enum class Phase { WarmUp, Measured };
std::string_view phase_name(Phase) noexcept;  // "warm-up", "measured"

// Times in seconds; moments count from the run's beginning. Errors are SQLSTATEs, or where there is none
// "connect" (no connection), "lost" (it ended), "timeout", "cut" (the run ended first) or "failed"; ""
// without one.
struct QueryRecord {
  std::size_t session = 0;
  std::size_t class_index = 0;
  std::string host, replica;  // replica "" when not known
  std::string query;
  double intended = 0;            // when it should have begun
  double late = 0;                // how much later it was sent
  std::optional<double> waiting;  // in the router's queue, where it is known
  double response = 0;            // from `intended` to the end of the answer
  std::size_t rows = 0;
  std::string error;
  Phase phase = Phase::Measured;
};

// What became of a query, or of a session's wish to begin.
enum class Fate { Served, TimedOut, Cut, Refused, Failed };
// Of a record's error. TimedOut: "timeout", or 57014, whoever cancelled it; Refused: SQLSTATE class 53 and
// 57P03.
Fate fate_of(std::string_view error) noexcept;
// Given up before it had ended: the time that it had taken is a lower bound of what it would have.
constexpr bool given_up(Fate fate) noexcept {
  return fate == Fate::TimedOut || fate == Fate::Cut;
}

struct SessionRecord {
  std::size_t session = 0;
  std::size_t class_index = 0;
  std::string host, replica;  // the last one, when there was more than one
  double arrives = 0;         // planned
  double late = 0;            // how much later it began to connect
  double waiting = 0;         // from `arrives` until it could ask, or could not
  bool served = false;        // it could ask: it was connected, and the run had time left
  double lifetime = 0;        // planned
  double ended = 0;
  std::size_t queries = 0, errors = 0;
  std::string error;              // why it could not begin or go on
  Phase phase = Phase::Measured;  // of `arrives`
};

// A session that is connected at last, at a moment of a run of that duration: none begins to ask after it, so
// that it is cut where there is no time left, and served otherwise.
void connected(SessionRecord&, double moment, double duration);

// Lines of CSV, RFC 4180, with \n behind each.
std::string query_header();
std::string session_header();
std::string line_of(const QueryRecord&, const std::string& class_name);
std::string line_of(const SessionRecord&, const std::string& class_name);

}  // namespace sluice::bench
