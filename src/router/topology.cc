#include "router/topology.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/fields.h"

namespace sluice::router {
namespace {

using config::Server;

// Appends servers whose names are not there yet.
class Replicas {
 public:
  void add(Server server) {
    if (!names_.insert(server.name).second) return;
    list_.push_back(std::move(server));
  }
  std::vector<Server> take() { return std::move(list_); }

 private:
  std::vector<Server> list_;
  std::set<std::string> names_;
};

bool is_pool(const config::Config& file, const std::string& name) {
  return name == "mixed" || std::any_of(file.classes.begin(), file.classes.end(),
                                        [&](const config::PriorityClass& c) { return c.name == name; });
}

void take_member(Server& server, const cluster::Member& member, const config::Config& file) {
  server.host = member.host;
  server.hostaddr.clear();
  server.port = file.options.patroni_port > 0 ? file.options.patroni_port : member.port;
  // A tag is set by others than this file: one that names no pool of ours is passed over.
  if (server.pool.empty() && is_pool(file, member.pool)) server.pool = member.pool;
  if (server.weight == 1 && member.weight > 0) server.weight = member.weight;
}

void add_addresses(Replicas& replicas, const Server& entry, const Topology& topology) {
  const auto known = topology.addresses.find(entry.host);
  if (known == topology.addresses.end()) return;
  for (const std::string& address : known->second) {
    Server one = entry;
    one.name = entry.name + "@" + address;
    one.hostaddr = address;
    one.discover = config::Discover::Off;
    replicas.add(std::move(one));
  }
}

std::vector<Server> effective_replicas(const config::Config& file, const Topology& topology) {
  Replicas replicas;
  for (const Server& entry : file.replicas) {
    if (entry.discover != config::Discover::Off) {
      add_addresses(replicas, entry, topology);
      continue;
    }
    Server server = entry;
    if (const cluster::Member* const member = topology.member(entry.name)) take_member(server, *member, file);
    replicas.add(std::move(server));
  }
  if (!topology.patroni) return replicas.take();
  for (const cluster::Member& member : topology.patroni->members) {
    Server server;
    server.name = member.name;
    take_member(server, member, file);
    replicas.add(std::move(server));
  }
  return replicas.take();
}

// A primary is in no pool, and alone.
std::optional<Server> found_primary(const config::Config& effective, const std::string& name) {
  for (const auto* const list : {&effective.primary_candidates, &effective.replicas})
    for (const Server& server : *list)
      if (server.name == name) {
        Server primary = server;
        primary.pool.clear();
        primary.weight = 1;
        return primary;
      }
  return std::nullopt;
}

bool same_server(const Server& a, const Server& b) {
  return config::print_record(a) == config::print_record(b) && a.hostaddr == b.hostaddr;
}

}  // namespace

const cluster::Member* Topology::member(std::string_view name) const noexcept {
  return patroni ? patroni->find(name) : nullptr;
}

bool finds_primary(const config::Config& file) {
  return !file.primary_candidates.empty() || !file.options.patroni_urls.empty();
}

std::shared_ptr<const config::Config> effective_config(const std::shared_ptr<const config::Config>& file,
                                                       const Topology& topology) {
  if (!finds_primary(*file) && !config::finds_replicas(*file) && !topology.primary_in_recovery) return file;
  auto effective = std::make_shared<config::Config>(*file);
  effective->replicas = effective_replicas(*file, topology);
  if (finds_primary(*file)) {
    effective->primary.reset();
    if (topology.primary) effective->primary = found_primary(*effective, *topology.primary);
  } else if (topology.primary_in_recovery && file->primary) {
    effective->primary_candidates = {*file->primary};  // it may be it again
    effective->primary.reset();
  }
  return effective;
}

bool same_servers(const config::Config& a, const config::Config& b) {
  if (a.primary.has_value() != b.primary.has_value()) return false;
  if (a.primary && !same_server(*a.primary, *b.primary)) return false;
  return std::equal(a.replicas.begin(), a.replicas.end(), b.replicas.begin(), b.replicas.end(), same_server);
}

bool names_same_primary(const config::Config& a, const config::Config& b) {
  if (!a.primary || !b.primary) return a.primary.has_value() == b.primary.has_value();
  return a.primary->name == b.primary->name && a.primary->host == b.primary->host &&
         a.primary->port == b.primary->port;
}

std::string_view source_of(const config::Config& file, std::string_view replica) {
  for (const Server& entry : file.replicas) {
    if (entry.discover == config::Discover::Off && entry.name == replica) return "file";
    if (entry.discover == config::Discover::Dns && replica.starts_with(entry.name) &&
        replica.substr(entry.name.size()).starts_with('@'))
      return "dns";
  }
  return file.options.patroni_urls.empty() ? "file" : "patroni";
}

}  // namespace sluice::router
