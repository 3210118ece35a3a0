#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "placer/pages.h"

namespace sluice::placer {
namespace {

TEST(PlacerHttp, IsDocumentedAsItIs) {
  const char* folder = std::getenv("SLUICE_SOURCE_DIR");
  if (folder == nullptr) GTEST_SKIP() << "SLUICE_SOURCE_DIR is not set";
  const std::string path = std::string(folder) + "/docs/reference/placer-http.md";
  if (std::getenv("SLUICE_REGENERATE") != nullptr) std::ofstream(path) << placer_http_reference();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), placer_http_reference())
      << "run this test with SLUICE_REGENERATE=1 to rewrite " << path;
}

}  // namespace
}  // namespace sluice::placer
