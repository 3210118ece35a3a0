// What is printed of the placer's configuration.

#include "config/placer_config.h"
#include "config/print_sections.h"

namespace sluice::config {
namespace {

struct PlacerSection {
  std::string_view key;
  std::string_view example;  // for the sample file; YAML
};
constexpr PlacerSection kPlacerSections[] = {
    {"compute_hosts",
     "compute_hosts:\n  - {name: compute-a, address: 10.1.0.10, port: 3000}\n"
     "  - {name: compute-b, address: 10.2.0.10, port: 3000, health_path: /up}\n"},
    {"routes",
     "#routes:\n#  - {pattern: /feed}\n#  - {pattern: \"/articles/:id\", method: GET, n_serial: 3}\n"
     "#  - {pattern: /orders, method: POST, target: primary}\n#  - {pattern: \"/reports/*\", class: "
     "premium}\n"},
    {"dependencies",
     "#dependencies:\n#  - {name: redis, rtt: {compute-a: 0.2ms, compute-b: 0.9ms}, n_serial: {/feed: 2}}\n"},
};

std::string placer_help_of(std::string_view key) {
  for (const ListKey& list : placer_list_keys())
    if (list.key == key) return std::string(list.help);
  return "";
}

// Calls `use.template operator()<Record>()` with the record type of a list.
template <class Use>
void with_placer_record_of(std::string_view key, const Use& use) {
  if (key == "compute_hosts") return use.template operator()<ComputeHost>();
  if (key == "routes") return use.template operator()<PlacerRoute>();
  if (key == "dependencies") return use.template operator()<Dependency>();
}

}  // namespace

std::string effective_values(const PlacerConfig& config) {
  std::string out;
  append_effective_options(out, config.options);
  out += "\n";
  append_list(out, "compute_hosts", config.compute_hosts);
  append_list(out, "routes", config.routes);
  append_list(out, "dependencies", config.dependencies);
  return out;
}

std::string check_report(const PlacerLoadOutcome& outcome, const std::string& path) {
  std::string out = problem_report(outcome.problems, path);
  if (outcome.config) out += "\n" + effective_values(*outcome.config);
  return out;
}

std::string placer_sample_file() {
  std::string out =
      "# Sluice's placer: every setting, with its default. `sluice check -c FILE` judges a configuration and "
      "prints\n"
      "# the values that hold. A key that is commented out has the default shown. Times may carry a unit "
      "(500ms, 30s,\n"
      "# 5min, 1h, 1d), sizes too (kB, MB, GB). Relative file names are looked up from this file's folder.\n"
      "#\n"
      "# A first configuration needs the compute hosts, no more.\n";
  for (const PlacerSection& section : kPlacerSections) {
    out += "\n" + wrapped(std::string(section.key) + ": " + placer_help_of(section.key), "# ", kSampleWidth);
    with_placer_record_of(section.key, [&]<class R>() { append_sample_fields<R>(out); });
    out += section.example;
  }
  append_sample_options<PlacerOptions>(out);
  return out;
}

std::string placer_reference_page() {
  std::string out =
      "# Placer configuration reference\n\n"
      "One YAML file, [conf/placer.yaml](../../conf/placer.yaml) with every key in it; "
      "[placer.md](../placer.md) says how\n"
      "they play together. This page is printed from the option tables in `src/config`; a test fails when it "
      "is out of\n"
      "date. Units, lists, patterns and relative file names are as in the [router's](configuration.md).\n\n"
      "SIGHUP reads the file again: all of it is taken, or nothing. Settings marked *restart* cannot be "
      "changed that way;\n"
      "a file that changes one of them is refused as a whole, and the log says which.\n";
  append_reference_options<PlacerOptions>(out);
  for (const PlacerSection& section : kPlacerSections) {
    out += "\n## " + std::string(section.key) + "\n\n" + placer_help_of(section.key) + "\n\n";
    with_placer_record_of(section.key, [&]<class R>() { append_reference_fields<R>(out); });
  }
  return out;
}

}  // namespace sluice::config
