#include "bench/replica_spec.h"

#include "base/text.h"

namespace sluice::bench {
namespace {

template <class Number>
bool read(std::string_view text, Number& value) {
  const auto found = to_number<Number>(text);
  value = found.value_or(Number{});
  return found && value > 0;
}

// What is in front of the mark; the text keeps what is behind it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return front;
}

bool read_address(std::string_view text, std::string& address) {
  const std::size_t colon = text.rfind(':');
  unsigned port = 0;
  if (colon == text.npos || colon == 0 || !read(text.substr(colon + 1), port) || port > 65535) return false;
  std::string_view host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address = std::string(host) + ":" + std::to_string(port);
  return true;
}

bool read_part(std::string_view part, ReplicaSpec& spec) {
  const std::string_view key = cut(part, ':');
  if (key == "cores") return read(part, spec.cores) && spec.cores <= 100'000;
  if (!std::holds_alternative<std::monostate>(spec.cpu)) return false;
  if (key == "cgroup") {
    spec.cpu = CgroupSource{std::string(part)};
    return part.starts_with('/');
  }
  ProcessSource process;
  if (key != "pid" || !read(part, process.pid)) return false;
  spec.cpu = process;
  return true;
}

}  // namespace

std::optional<ReplicaSpec> ReplicaSpec::parse(std::string_view text) {
  ReplicaSpec spec;
  std::string_view rest = text;
  spec.name = cut(rest, '=');
  if (spec.name.empty() || spec.name.size() > 63 || spec.name.find_first_of(",\"\n") != spec.name.npos)
    return std::nullopt;
  if (!read_address(cut(rest, ','), spec.address)) return std::nullopt;
  while (!rest.empty())
    if (!read_part(cut(rest, ','), spec)) return std::nullopt;
  return spec;
}

std::string replica_name(const std::vector<ReplicaSpec>& replicas, const std::string& address) {
  const ReplicaSpec* with_port = nullptr;
  std::size_t count = 0;
  for (const ReplicaSpec& replica : replicas) {
    if (replica.address == address) return replica.name;
    if (address.find(':') == address.npos && replica.address.ends_with(":" + address)) {
      with_port = &replica;
      ++count;
    }
  }
  return count == 1 ? with_port->name : address;
}

}  // namespace sluice::bench
