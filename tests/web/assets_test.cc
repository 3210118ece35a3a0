#include "web/assets.h"

#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <zlib.h>

namespace sluice::web {
namespace {

// What a browser makes of it; empty when it is no gzip.
std::string inflated(std::string_view gzip) {
  std::string text(4 * 1024 * 1024, '\0');
  std::string input(gzip);
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int status = inflate(&stream, Z_FINISH);
  text.resize(status == Z_STREAM_END ? stream.total_out : 0);
  inflateEnd(&stream);
  return text;
}

#ifdef SLUICE_NO_DASHBOARD

TEST(Assets, AreAbsentFromAProgramBuiltWithoutThem) {
  EXPECT_TRUE(assets().empty());
  EXPECT_EQ(chart_script(), "");
  EXPECT_EQ(chart_style(), "");
}

#else

TEST(Assets, TheChartLibraryCanStandWithinAPage) {
  EXPECT_NE(chart_script().find("var uPlot="), std::string_view::npos);
  EXPECT_NE(chart_style().find(".uplot"), std::string_view::npos);
  for (const std::string_view text : {chart_script(), chart_style()}) {
    EXPECT_EQ(text.find("</"), std::string_view::npos);
    EXPECT_EQ(text.find("<!--"), std::string_view::npos);
  }
}

TEST(Assets, TheChartLibraryBringsItsLicence) {
  EXPECT_NE(chart_script().find("Permission is hereby granted"), std::string_view::npos);
}

TEST(Assets, AreCompressedAndSmall) {
  std::map<std::string, std::size_t> page_bytes;
  for (const Asset& asset : assets()) {
    EXPECT_GT(inflated(asset.gzip).size(), 0U) << asset.path;
    const std::size_t slash = asset.path.find('/', 1);
    page_bytes[std::string(asset.path.substr(0, slash))] += asset.gzip.size();
  }
  for (const auto& [page, bytes] : page_bytes)
    EXPECT_LE(bytes, 300U * 1024U) << page;
}

#endif

TEST(Assets, AreFoundByTheirWholePath) {
  for (const Asset& asset : assets())
    EXPECT_EQ(find_asset(asset.path), &asset);
  EXPECT_EQ(find_asset("/no such page"), nullptr);
  EXPECT_EQ(find_asset(""), nullptr);
}

}  // namespace
}  // namespace sluice::web
