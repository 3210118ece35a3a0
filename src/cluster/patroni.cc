#include "cluster/patroni.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/utf8.h"

namespace sluice::cluster {
namespace {

using Json = nlohmann::json;

// {"members": [{"tags": {"key": value}}]}: what is deeper is not Patroni's.
constexpr int kDepthMax = 8;
constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kHostBytesMax = 255;
constexpr std::size_t kTagsBytesMax = 500;
constexpr std::uint64_t kWeightMax = 1000;

const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

// A number, or a text that is one: tags are written by people.
std::optional<std::uint64_t> number(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (!value->is_string()) return std::nullopt;
  return to_number<std::uint64_t>(value->get_ref<const std::string&>());
}

bool flag(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  return value->is_string() && (*value == "true" || *value == "yes" || *value == "on" || *value == "1");
}

// The letters that configuration names have: they become labels, and words in the console.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:/[]*%@").find(c) != std::string_view::npos;
  });
}

bool is_host(std::string_view host) {
  return host.size() <= kHostBytesMax &&
         std::all_of(host.begin(), host.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

MemberRole role_of(std::string_view word) {
  if (word == "leader" || word == "primary" || word == "master") return MemberRole::Leader;
  return word == "standby_leader" ? MemberRole::StandbyLeader : MemberRole::Replica;
}

// At most so many bytes, no character cut, and no zero byte: the console shows it as text.
std::string shown(std::string text, std::size_t bytes_max) {
  std::replace(text.begin(), text.end(), '\0', '?');
  if (text.size() <= bytes_max) return text;
  text.resize(bytes_max);
  // A character has at most four bytes.
  for (int i = 0; i < 3 && !is_utf8(text); ++i)
    text.pop_back();
  return text;
}

std::string described(const Json& tags) {
  std::string out;
  for (const auto& [key, value] : tags.items()) {
    const std::string as_text = value.is_string() ? value.get<std::string>()
                                                  : value.dump(-1, ' ', true, Json::error_handler_t::replace);
    out += (out.empty() ? "" : " ") + key + "=" + as_text;
    if (out.size() > kTagsBytesMax) break;
  }
  return shown(std::move(out), kTagsBytesMax);
}

Member member_of(const Json& object) {
  Member member;
  member.name = text(object, "name");
  member.host = text(object, "host");
  if (const auto port = number(object, "port"); port && *port >= 1 && *port <= 65535)
    member.port = static_cast<std::uint16_t>(*port);
  member.role_word = shown(text(object, "role"), kNameBytesMax);
  member.role = role_of(member.role_word);
  member.state = shown(text(object, "state"), kNameBytesMax);
  if (const auto timeline = number(object, "timeline"); timeline && *timeline <= UINT32_MAX)
    member.timeline = static_cast<std::uint32_t>(*timeline);
  if (member.role != MemberRole::Leader) member.lag_bytes = number(object, "lag");
  const Json* const tags = find(object, "tags");
  if (tags == nullptr || !tags->is_object()) return member;
  member.noloadbalance = flag(*tags, "noloadbalance");
  member.pool = text(*tags, "sluice_pool");
  if (const auto weight = number(*tags, "sluice_weight"); weight && *weight >= 1 && *weight <= kWeightMax)
    member.weight = static_cast<std::uint32_t>(*weight);
  member.tags = described(*tags);
  return member;
}

}  // namespace

bool Member::running() const noexcept {
  return state == "running" || state == "streaming" || state == "in archive recovery";
}

DownReason Member::bar() const noexcept {
  if (role == MemberRole::Leader) return DownReason::Leader;
  if (!running()) return DownReason::NotRunning;
  return noloadbalance ? DownReason::NoLoadBalance : DownReason::None;
}

const Member* ClusterView::leader() const noexcept {
  const Member* found = nullptr;
  for (const Member& member : members) {
    if (member.role != MemberRole::Leader) continue;
    if (found != nullptr) return nullptr;
    found = &member;
  }
  return found != nullptr && found->running() ? found : nullptr;
}

const Member* ClusterView::find(std::string_view name) const noexcept {
  const auto found = std::lower_bound(members.begin(), members.end(), name,
                                      [](const Member& m, std::string_view n) { return m.name < n; });
  return found == members.end() || found->name != name ? nullptr : &*found;
}

std::optional<ClusterView> parse_cluster(std::string_view json, std::string& problem) {
  const auto refuse = [&](std::string why) {
    problem = std::move(why);
    return std::nullopt;
  };
  bool too_deep = false;
  const Json root = Json::parse(
      json.begin(), json.end(),
      [&](int depth, Json::parse_event_t, Json&) {
        too_deep = too_deep || depth > kDepthMax;
        return depth <= kDepthMax;
      },
      false);
  if (root.is_discarded() || too_deep) return refuse("the answer is no JSON that Patroni would send");
  const Json* const list = find(root, "members");
  if (list == nullptr || !list->is_array()) return refuse("the answer lists no members");
  if (list->size() > kMembersMax) return refuse("the answer lists too many members");
  ClusterView view;
  for (const Json& each : *list) {
    Member member = member_of(each);
    if (!is_name(member.name)) return refuse("a member has a name that cannot be a server's");
    if (member.host.empty()) continue;
    if (!is_host(member.host)) return refuse("member " + member.name + " has an address that is none");
    view.members.push_back(std::move(member));
  }
  std::sort(view.members.begin(), view.members.end(),
            [](const Member& a, const Member& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(view.members.begin(), view.members.end(),
                                        [](const Member& a, const Member& b) { return a.name == b.name; });
  if (twice != view.members.end()) return refuse("member " + twice->name + " is there twice");
  return view;
}

}  // namespace sluice::cluster
