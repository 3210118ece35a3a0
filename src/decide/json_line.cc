#include "decide/json_line.h"

#include <unordered_set>
#include <vector>

namespace sluice::decide {
namespace {

using nlohmann::json;

// Watches the parser go by. What lies too deep is discarded, not built, so that nothing deep is ever
// destroyed either.
class Watch {
 public:
  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
        keys_.emplace_back();
        return allowed(depth);
      case json::parse_event_t::array_start:
        return allowed(depth);
      case json::parse_event_t::object_end:
        keys_.pop_back();
        return true;
      case json::parse_event_t::key:
        if (!keys_.back().insert(parsed.get_ref<const std::string&>()).second)
          note("key " + in_json_quotes(parsed.get_ref<const std::string&>()) + " is there twice");
        return true;
      case json::parse_event_t::array_end:
      case json::parse_event_t::value:
        return true;
    }
    return true;
  }

  const std::string& problem() const { return problem_; }

 private:
  bool allowed(int depth) {
    if (depth < kDepthMax) return true;
    note("nested deeper than " + std::to_string(kDepthMax) + " levels");
    return false;
  }
  void note(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  std::vector<std::unordered_set<std::string>> keys_;  // of each object that is open
  std::string problem_;
};

}  // namespace

JsonLine parse_json_line(std::string_view line) {
  Watch watch;
  try {
    json value = json::parse(line, [&](int depth, json::parse_event_t event, json& parsed) {
      return watch(depth, event, parsed);
    });
    return {std::move(value), watch.problem()};
  } catch (const json::parse_error& e) {
    return {nullptr, "not valid JSON at byte " + std::to_string(e.byte)};
  } catch (const json::exception&) {
    return {nullptr, "a number is out of range"};
  }
}

std::string in_json_quotes(std::string_view text) {
  constexpr std::size_t kShownMax = 64;
  const std::string shown(text.substr(0, kShownMax));
  const std::string out = json(shown).dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() > kShownMax ? out + "..." : out;
}

}  // namespace sluice::decide
