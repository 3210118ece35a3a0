#include "bench/records.h"

#include <fmt/format.h>

#include "base/csv.h"

namespace sluice::bench {

std::string_view phase_name(Phase phase) noexcept {
  return phase == Phase::WarmUp ? "warm-up" : "measured";
}

Fate fate_of(std::string_view error) noexcept {
  if (error.empty()) return Fate::Served;
  if (error == "timeout" || error == "57014") return Fate::TimedOut;
  if (error == "cut") return Fate::Cut;
  if (error == "57P03" || (error.size() == 5 && error.starts_with("53"))) return Fate::Refused;
  return Fate::Failed;
}

void connected(SessionRecord& record, double moment, double duration) {
  record.served = moment < duration;
  if (!record.served) record.error = "cut";
}

std::string query_header() {
  return "session,class,host,replica,query,intended,late,waiting,response,rows,error,phase\n";
}

std::string session_header() {
  return "session,class,host,replica,arrives,late,waiting,lifetime,ended,queries,errors,error,served,phase\n";
}

std::string line_of(const QueryRecord& r, const std::string& class_name) {
  return fmt::format("{},{},{},{},{},{:.6f},{:.6f},{},{:.6f},{},{},{}\n", r.session, csv_cell(class_name),
                     csv_cell(r.host), csv_cell(r.replica), csv_cell(r.query), r.intended, r.late,
                     r.waiting ? fmt::format("{:.6f}", *r.waiting) : "", r.response, r.rows,
                     csv_cell(r.error), phase_name(r.phase));
}

std::string line_of(const SessionRecord& r, const std::string& class_name) {
  return fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{},{},{},{},{}\n", r.session,
                     csv_cell(class_name), csv_cell(r.host), csv_cell(r.replica), r.arrives, r.late,
                     r.waiting, r.lifetime, r.ended, r.queries, r.errors, csv_cell(r.error),
                     r.served ? "yes" : "no", phase_name(r.phase));
}

}  // namespace sluice::bench
