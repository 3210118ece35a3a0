#include "config/kinds.h"

#include "base/assert.h"

namespace sluice::config::kind {

TextList::Value TextList::initial(std::string_view comma_separated) {
  Value list;
  while (!comma_separated.empty()) {
    const std::size_t comma = comma_separated.find(',');
    list.emplace_back(comma_separated.substr(0, comma));
    comma_separated = comma == comma_separated.npos ? std::string_view() : comma_separated.substr(comma + 1);
  }
  return list;
}

NetworkList::Value NetworkList::initial(std::string_view comma_separated) {
  Value list;
  for (const std::string& text : TextList::initial(comma_separated)) {
    const std::optional<Network> network = parse_network(text);
    SLUICE_ASSERT(network.has_value());
    list.push_back(*network);
  }
  return list;
}

Fraction::Value Fraction::initial(std::string_view v) {
  const std::optional<Ratio> ratio = Ratio::parse(v);
  SLUICE_ASSERT(ratio.has_value());
  return *ratio;
}

Weighting::Value Weighting::initial(std::string_view v) {
  const std::optional<Weight> weight = Weight::parse(v);
  SLUICE_ASSERT(weight.has_value());
  return *weight;
}

}  // namespace sluice::config::kind
