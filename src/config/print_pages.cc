#include "config/fields.h"
#include "config/print.h"
#include "config/print_sections.h"

namespace sluice::config {
namespace {

// A list of the top level with the table of its records.
struct Section {
  std::string_view key;
  std::string_view example;  // for the sample file; YAML
};
constexpr Section kSections[] = {
    {"primary", "primary: 10.0.0.10:5432\n"},
    {"replicas",
     "replicas:\n  - 10.0.0.11:5432\n  - 10.0.0.12:5432\n  - {name: r3, host: 10.0.0.13, port: 5432}\n"},
    {"databases",
     "#databases:\n#  - {name: app_rw, target: primary, server_database: app}\n#  - {name: \"*\"}\n"},
    {"users", "#users:\n#  - {name: [web, \"job-*\"], pool_mode: transaction}\n"},
    {"classes",
     "#classes:\n#  - {name: premium, saturation: 10, return_ratio: 0.60, floor: 0, target: 2}\n"
     "#  - {name: freemium, saturation: 10, return_ratio: 0.80, floor: 1, target: 2, max_sessions: 200}\n"},
    {"rules",
     "#rules:\n#  - {user: [billing, checkout], class: premium}\n"
     "#  - {application_name: \"report-*\", class: freemium}\n#  - {network: 10.1.0.0/16, class: premium}\n"},
    {"budgets",
     "#budgets:\n#  - {name: reports, application_name: \"report-*\", active_share: 0.25, busy_share: 0.20, "
     "mode: enforce}\n#  - {name: feed, route: /feed, active_share: 0.50}\n"},
    {"hosts",
     "#hosts:\n#  - {name: compute-a, networks: [10.1.0.0/24, fd00:1::/64]}\n#  - {name: compute-b, "
     "networks: 10.1.1.0/24}\n"},
    {"hba",
     "#hba:\n#  - {network: unix, user: monitor, method: trust}\n#  - {tls: required, user: robot, method: "
     "cert}\n"
     "#  - {method: scram-sha-256}\n"},
    {"listeners",
     "#listeners:\n#  - {name: public, address: \"*\", port: 6432}\n#  - {name: local, address: "
     "/run/sluice/.s.PGSQL.6432}\n"},
};

std::string help_of(std::string_view key) {
  for (const ListKey& list : list_keys())
    if (list.key == key) return std::string(list.help);
  return "";
}

// Calls `use.template operator()<Record>()` with the record type of a list.
template <class Use>
void with_record_of(std::string_view key, const Use& use) {
  if (key == "primary" || key == "replicas") return use.template operator()<Server>();
  if (key == "databases") return use.template operator()<Database>();
  if (key == "users") return use.template operator()<UserSettings>();
  if (key == "classes") return use.template operator()<PriorityClass>();
  if (key == "rules") return use.template operator()<ClassRule>();
  if (key == "budgets") return use.template operator()<Budget>();
  if (key == "hosts") return use.template operator()<OriginHost>();
  if (key == "hba") return use.template operator()<HbaRule>();
  if (key == "listeners") return use.template operator()<Listener>();
}

void append_sample_section(std::string& out, const Section& section) {
  out += "\n" + wrapped(std::string(section.key) + ": " + help_of(section.key), "# ", kSampleWidth);
  if (section.key == "primary") {
    out += "#   The keys are those of replicas.\n";
  } else {
    with_record_of(section.key, [&]<class R>() { append_sample_fields<R>(out); });
  }
  out += section.example;
}

}  // namespace

std::string sample_file() {
  std::string out =
      "# Sluice: every setting, with its default. `sluice check -c FILE` judges a configuration and prints "
      "the values\n"
      "# that hold. A key that is commented out has the default shown. Times may carry a unit (500ms, 30s, "
      "5min, 1h, 1d),\n"
      "# sizes too (kB, MB, GB). Relative file names are looked up from this file's folder.\n"
      "#\n"
      "# A first configuration needs the servers and the users, no more:\n"
      "auth_file: userlist.txt.example\n";
  for (const Section& section : kSections)
    append_sample_section(out, section);
  append_sample_options<Options>(out);
  return out;
}

std::string reference_page() {
  std::string out =
      "# Configuration reference\n\n"
      "One YAML file, [conf/sluice.yaml](../../conf/sluice.yaml) with every key in it. This page is printed "
      "from the\n"
      "option tables in `src/config`; a test fails when it is out of date.\n\n"
      "Times may carry a unit (`500ms`, `30s`, `5min`, `1h`, `1d`), sizes too (`kB`, `MB`, `GB`, 1 kB = 1024 "
      "bytes). A list\n"
      "of words may be written as one text with commas. A name in a list of patterns may hold `*` (any "
      "characters) and\n"
      "`?` (one). Relative file names are looked up from the configuration file's folder. YAML aliases are "
      "not accepted.\n"
      "Where PgBouncer has a setting of the same name, it means the same.\n\n"
      "SIGHUP or `RELOAD` reads the file again: all of it is taken, or nothing. Settings marked *restart* "
      "cannot be\n"
      "changed that way; a file that changes one of them is refused as a whole, and the log says which.\n";
  append_reference_options<Options>(out);
  for (const Section& section : kSections) {
    out += "\n## " + std::string(section.key) + "\n\n" + help_of(section.key) + "\n\n";
    if (section.key == "primary") {
      out += "The keys are those of [replicas](#replicas).\n";
    } else {
      with_record_of(section.key, [&]<class R>() { append_reference_fields<R>(out); });
    }
  }
  return out;
}

}  // namespace sluice::config
