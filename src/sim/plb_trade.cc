#include "sim/plb_trade.h"

#include <algorithm>
#include <utility>

#include "sluice/stats/comparison.h"
#include "sluice/weight.h"

namespace sluice::sim {
namespace {

constexpr std::string_view kPrefix = "proportional/";

// The strategies with a fixed weight in one configuration, the least weight first.
using Dial = std::vector<std::pair<double, const PlbRow*>>;

bool same_configuration(const PlbRow& a, const PlbRow& b) {
  return a.sessions == b.sessions && a.premium_share == b.premium_share;
}

Dial dial_of(const std::vector<PlbRow>& rows, const PlbRow& like) {
  Dial dial;
  for (const PlbRow& row : rows) {
    if (!same_configuration(row, like) || !row.strategy.starts_with(kPrefix)) continue;
    if (const auto weight = Weight::parse(std::string_view(row.strategy).substr(kPrefix.size())))
      dial.emplace_back(weight->value(), &row);
  }
  std::sort(dial.begin(), dial.end());
  return dial;
}

struct Place {
  std::size_t behind = 0;  // between dial[behind] and dial[behind + 1]
  double part = 0;         // 0 at the first of them, 1 at the second
};

// Where on the dial Premium's median of a run comes down to `median`.
std::optional<Place> place_of(const Dial& dial, std::size_t run, double median) {
  if (dial.front().second->median[0][run] <= median) return Place{0, 0};
  for (std::size_t i = 0; i + 1 < dial.size(); ++i) {
    const double from = dial[i].second->median[0][run], to = dial[i + 1].second->median[0][run];
    if (from >= median && to <= median) return Place{i, from > to ? (from - median) / (from - to) : 0};
  }
  return std::nullopt;
}

double between(double from, double to, double part) {
  return from + (to - from) * part;
}

void fill_in(PlbTrade& trade, const Dial& dial, const PlbRow& plb) {
  std::vector<double> weights, freemium, all;
  for (std::size_t run = 0; run < plb.all_mean.size(); ++run) {
    const auto place = place_of(dial, run, plb.median[0][run] * (1 + kSameMedian));
    if (!place) continue;
    const auto& [weight, row] = dial[place->behind];
    const auto& [next_weight, next] = dial[place->behind + 1];
    weights.push_back(between(weight, next_weight, place->part));
    freemium.push_back(between(row->median[1][run], next->median[1][run], place->part) / plb.median[1][run] -
                       1);
    all.push_back(between(row->all_mean[run], next->all_mean[run], place->part) / plb.all_mean[run] - 1);
  }
  if (weights.size() < plb.all_mean.size()) {
    trade.verdict = Verdict::OutOfReach;
    return;
  }
  trade.weight = stats::mean(weights);
  trade.freemium_gap = stats::mean_interval(freemium);
  trade.all_gap = stats::mean_interval(all);
  if (trade.freemium_gap->high < 0) trade.verdict = Verdict::Better;
  if (trade.freemium_gap->low > 0) {
    const bool reversed =
        stats::mean(dial.front().second->median[0]) < stats::mean(plb.median[0]) * (1 - kSameMedian);
    trade.verdict = reversed ? Verdict::Reversed : Verdict::Worse;
  }
}

std::string gap(const std::optional<stats::Interval>& interval) {
  if (!interval) return "";
  return percent(interval->estimate) + " (" + percent(interval->low) + " to " + percent(interval->high) + ")";
}

}  // namespace

std::string_view verdict_name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Better:
      return "better";
    case Verdict::Worse:
      return "worse";
    case Verdict::Alike:
      return "alike";
    case Verdict::OutOfReach:
      return "out of reach";
    case Verdict::Reversed:
      return "other way round";
  }
  return "";
}

std::vector<PlbTrade> trades(const std::vector<PlbRow>& rows) {
  std::vector<PlbTrade> out;
  for (const PlbRow& plb : rows) {
    if (plb.strategy != "5PLB") continue;
    const PlbRow* const rr = row_like(rows, plb, "5RR");
    const Dial dial = dial_of(rows, plb);
    // A share of 0 or 1 leaves a class without queries.
    if (rr == nullptr || dial.size() < 2 || !(stats::mean(rr->median[0]) > 0) ||
        !(stats::mean(rr->median[1]) > 0))
      continue;
    PlbTrade& trade = out.emplace_back();
    trade.sessions = plb.sessions;
    trade.premium_share = plb.premium_share;
    trade.premium = stats::mean(plb.median[0]) / stats::mean(rr->median[0]) - 1;
    trade.freemium = stats::mean(plb.median[1]) / stats::mean(rr->median[1]) - 1;
    trade.all = stats::mean(plb.all_mean) / stats::mean(rr->all_mean) - 1;
    fill_in(trade, dial, plb);
  }
  return out;
}

Table trade_table(const std::vector<PlbTrade>& trades) {
  Table table({"sessions", "premium", "PLB: P", "F", "all", "P within 3% at w", "F there against PLB",
               "all there against PLB", "proportional is"});
  for (const PlbTrade& t : trades)
    table.add({digits(t.sessions), digits(t.premium_share), percent(t.premium), percent(t.freemium),
               percent(t.all), t.weight > 0 ? digits(t.weight, 3) : "", gap(t.freemium_gap), gap(t.all_gap),
               std::string(verdict_name(t.verdict))});
  return table;
}

}  // namespace sluice::sim
