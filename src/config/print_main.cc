// Prints the documents that are made from the option tables: sluice_config_print sample|reference
#include <cstdio>
#include <string_view>

#include "config/print.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "sample") return std::fputs(sluice::config::sample_file().c_str(), stdout) < 0 ? 1 : 0;
  if (what == "reference") return std::fputs(sluice::config::reference_page().c_str(), stdout) < 0 ? 1 : 0;
  std::fputs("usage: sluice_config_print sample|reference\n", stderr);
  return 2;
}
