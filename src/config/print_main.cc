// Prints the documents that are made from the option tables.
#include <cstdio>
#include <string>
#include <string_view>

#include "config/placer_config.h"
#include "config/print.h"

int main(int argc, char** argv) {
  using namespace sluice::config;
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "sample") text = sample_file();
  if (what == "reference") text = reference_page();
  if (what == "placer-sample") text = placer_sample_file();
  if (what == "placer-reference") text = placer_reference_page();
  if (!text.empty()) return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
  std::fputs("usage: sluice_config_print sample|reference|placer-sample|placer-reference\n", stderr);
  return 2;
}
