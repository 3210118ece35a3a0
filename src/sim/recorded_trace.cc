#include "sim/recorded_trace.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "decide/event.h"
#include "decide/json_line.h"

namespace sluice::sim {
namespace {

constexpr std::size_t kNamesMax = 10'000;  // of classes, and of replicas
// Of all pauses and queries. With arrivals a hundred times as slow as in the longest trace this is in 64 bits
// of nanoseconds.
constexpr std::int64_t kTimeMax = 4'000'000'000;

double seconds(std::chrono::microseconds span) noexcept {
  return static_cast<double>(span.count()) / 1e6;
}

class Loader {
 public:
  Loader(std::uint64_t guests_max, std::uint64_t queries_max)
      : guests_max_(guests_max), queries_max_(queries_max) {}

  // "" or why reading cannot go on.
  std::string take(const recording::Record& record) {
    return std::visit([this](const auto& r) { return on(r); }, record);
  }
  bool full() const noexcept { return guests_.size() >= guests_max_ || trace_.query_count >= queries_max_; }

  LoadedTrace finish(std::optional<recording::Damage> damage, bool cut_short) {
    LoadedTrace out;
    trace_.cut_short = cut_short;
    trace_.damage = std::move(damage);
    if (!configured_) {
      out.problem = "it holds no configuration";
    } else if (guests_.empty()) {
      out.problem = "it holds no admission";
    } else {
      place_guests();
    }
    out.trace = std::move(trace_);
    return out;
  }

 private:
  struct Guest {
    recording::Admission admission;
    std::vector<RecordedQuery> queries;
    std::optional<recording::Offset> ended;
  };

  std::string on(const recording::Name& name) {
    if (name.kind != recording::NameKind::Class && name.kind != recording::NameKind::Replica) return "";
    auto& names = names_[static_cast<std::size_t>(name.kind)];
    names[name.id] = name.text;
    return names.size() <= kNamesMax
               ? ""
               : "it names more than " + std::to_string(kNamesMax) + " classes or replicas";
  }

  std::string on(const recording::Configuration& configuration) {
    if (configured_) {
      trace_.config_changed = trace_.config_changed || configuration.json != first_configuration_;
      return "";
    }
    const decide::JsonLine json = decide::parse_json_line(configuration.json);
    if (!json.problem.empty()) return "its configuration is " + json.problem;
    const decide::ParsedEvent parsed = decide::parse_event(json.value);
    if (!parsed.problem.empty()) return "its configuration: " + parsed.problem;
    const auto* const config = std::get_if<decide::ConfigEvent>(&parsed.event);
    if (config == nullptr) return "its configuration is another event";
    trace_.config = config->config;
    first_configuration_ = configuration.json;
    configured_ = true;
    return "";
  }

  std::string on(const recording::Queue& queue) {
    if (queued_) {
      trace_.config_changed =
          trace_.config_changed || queue.order != queued_->order || queue.ageing != queued_->ageing;
      return "";
    }
    queued_ = queue;
    trace_.queue.discipline = queue.order == recording::QueueOrder::ShortestFirst
                                  ? policy::QueueDiscipline::ShortestFirst
                                  : policy::QueueDiscipline::Fcfs;
    trace_.queue.ageing = queue.ageing;
    return "";
  }

  std::string on(const recording::Admission& admission) {
    if (admit(admission)) by_number_[admission.number] = guests_.size() - 1;
    return "";
  }

  // False for one that was refused.
  bool admit(const recording::Admission& admission) {
    see(admission.at);
    if (!admission.replica) {
      ++trace_.refused;
      return false;
    }
    transactions_ += admission.transaction ? 1 : 0;
    guests_.push_back({admission, {}, std::nullopt});
    return true;
  }

  // What belongs to no admission in the trace began before it.
  std::string on(const recording::Queries& queries) {
    const auto found = by_number_.find(queries.number);
    return found == by_number_.end() ? "" : add_queries(guests_[found->second], queries.queries);
  }

  std::string add_queries(Guest& guest, const std::vector<recording::Query>& queries) {
    for (const recording::Query& q : queries) {
      guest.queries.push_back({seconds(q.pause), seconds(q.response)});
      time_ += seconds(q.pause) + seconds(q.response);
    }
    trace_.query_count += queries.size();
    return time_ <= static_cast<double>(kTimeMax)
               ? ""
               : "its pauses and queries add up to more than " + std::to_string(kTimeMax) + " s";
  }

  std::string on(const recording::End& end) {
    see(end.at);
    const auto found = by_number_.find(end.number);
    if (found == by_number_.end()) return "";
    guests_[found->second].ended = end.at;
    by_number_.erase(found);
    return "";
  }

  // Only the class counts here. There are no more of them than ids.
  std::string on(const recording::Who& who) {
    class_of_[who.id] = who.session_class;
    return "";
  }

  std::string on(const recording::Whole& whole) {
    recording::Admission admission;
    admission.at = whole.at;
    admission.waited = whole.waited;
    admission.transaction = whole.transaction;
    admission.replica = whole.replica;
    admission.expected_size = whole.expected_size;
    // As one whose class has no name.
    const auto known = class_of_.find(whole.who);
    admission.session_class = known == class_of_.end() ? recording::kNameIdMax : known->second;
    if (!admit(admission)) return "";
    recording::Offset ended = whole.at + whole.waited + whole.tail;
    for (const recording::Query& q : whole.queries)
      ended += q.pause + q.response;
    see(std::min<recording::Offset>(ended, recording::kSpanMax));
    guests_.back().ended = ended;
    return add_queries(guests_.back(), whole.queries);
  }

  void see(recording::Offset at) { trace_.duration = std::max(trace_.duration, seconds(at)); }

  template <class List>
  std::optional<std::uint32_t> place(const List& list, recording::NameKind kind, recording::NameId id) const {
    const auto& names = names_[static_cast<std::size_t>(kind)];
    const auto name = names.find(id);
    if (name == names.end()) return std::nullopt;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].name == name->second) return static_cast<std::uint32_t>(i);
    return std::nullopt;
  }

  void place_guests() {
    for (Guest& guest : guests_) {
      RecordedGuest& out = trace_.guests.emplace_back();
      out.at = seconds(guest.admission.at);
      out.waited = seconds(guest.admission.waited);
      // A class that a reload removed counts as the lowest, as in the router.
      out.session_class =
          place(trace_.config.classes, recording::NameKind::Class, guest.admission.session_class)
              .value_or(static_cast<std::uint32_t>(trace_.config.classes.size() - 1));
      out.replica = place(trace_.config.replicas, recording::NameKind::Replica, *guest.admission.replica);
      out.queries = std::move(guest.queries);
      if (guest.admission.expected_size) out.expected_size = seconds(*guest.admission.expected_size);
      trace_.sized += out.expected_size > 0 ? 1 : 0;
      double answered = out.at + out.waited;
      for (const RecordedQuery& q : out.queries)
        answered += q.pause + q.response;
      if (guest.ended)
        out.tail = std::max(0.0, seconds(*guest.ended) - answered);
      else
        ++trace_.unended;
    }
    trace_.transactions = 2 * transactions_ > trace_.guests.size();
    std::stable_sort(trace_.guests.begin(), trace_.guests.end(),
                     [](const RecordedGuest& a, const RecordedGuest& b) { return a.at < b.at; });
  }

  const std::uint64_t guests_max_, queries_max_;
  RecordedTrace trace_;
  bool configured_ = false;
  std::optional<recording::Queue> queued_;
  std::string first_configuration_;
  std::unordered_map<recording::NameId, std::string> names_[recording::kNameKindCount];
  std::unordered_map<recording::NameId, recording::NameId> class_of_;  // of each Who
  std::vector<Guest> guests_;
  std::unordered_map<std::uint64_t, std::size_t> by_number_;  // those that have not ended
  std::uint64_t transactions_ = 0;
  double time_ = 0;  // of all pauses and queries
};

}  // namespace

LoadedTrace load_trace(recording::TraceReader& reader, std::uint64_t guests_max, std::uint64_t queries_max) {
  Loader loader(guests_max, queries_max);
  while (!loader.full()) {
    const auto record = reader.next();
    if (!record) break;
    if (std::string problem = loader.take(*record); !problem.empty()) return {{}, std::move(problem)};
  }
  const bool cut_short = loader.full() && reader.next();
  return loader.finish(reader.damage(), cut_short);
}

}  // namespace sluice::sim
