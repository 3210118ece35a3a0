#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

// Three digits: more are not known of any size.
Cell number(std::optional<double> value) {
  if (!value) return {};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", *value);
  return std::string(text.data());
}

View sizes_view() {
  using S = SizeRow;
  return list_view<S>(
      "SIZES", "What sessions and transactions are expected to take, the last used first.", Part::Sizes,
      &Snapshot::sizes,
      {column<&S::user>("user"), column<&S::database>("database"),
       column<&S::application_name>("application_name"),
       column<&S::route>("route", "That the statement names, in place of the application."),
       column<&S::fingerprint>("fingerprint", "Of a transaction's first statement. Empty: whole sessions."),
       column<&S::statement>("statement", "Its beginning, with ? for literals."),
       column<&S::count>("count", "How often it was seen."),
       column<&S::mean>("mean_us", "Service time, without waiting, in microseconds: what is expected."),
       column<&S::median>("median_us"), column<&S::p95>("p95_us"), column<&S::p99>("p99_us"),
       column<&S::age>("seen_ms_ago", "Since the last time.")});
}

View cutoffs_view() {
  using C = CutoffRow;
  return list_view<C>(
      "CUTOFFS", "Which sizes each replica takes, where order_within_pool is sita_e or sita_v.",
      Part::Cutoffs, &Snapshot::cutoffs,
      {column<&C::pool>("pool", "A class, or all."), column<&C::order>("order_within_pool"),
       column<&C::state>("state", "by size, or by load while too little is known."),
       column<&C::replica>("replica"),
       computed<C>("from_seconds", ColumnType::Text, "Smallest size.",
                   [](const C& c) { return number(c.from); }),
       computed<C>("to_seconds", ColumnType::Text, "Largest size. NULL: no end.",
                   [](const C& c) { return number(c.to); }),
       computed<C>("job_share", ColumnType::Text, "Of the pool's sessions or transactions, as sizes arrive.",
                   [](const C& c) { return number(c.job_share); }),
       computed<C>("load_share", ColumnType::Text, "Of the pool's work.",
                   [](const C& c) { return number(c.load_share); }),
       column<&C::sizes>("sizes", "Known sizes that have arrived, since the start."),
       computed<C>("utilization", ColumnType::Text, "Of the pool's slots, as arrivals find it.",
                   [](const C& c) { return number(c.utilization); })});
}

}  // namespace

std::vector<View> size_views() {
  std::vector<View> views;
  views.push_back(sizes_view());
  views.push_back(cutoffs_view());
  return views;
}

}  // namespace sluice::admin
