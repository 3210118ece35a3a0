#include "calibration/calibration_watch.h"

#include <gtest/gtest.h>

#include "calibration/calibration_file.h"
#include "tests/calibration/sample.h"
#include "tests/config/temporary_folder.h"

namespace sluice::calibration {
namespace {

using News = CalibrationWatch::News;

TEST(CalibrationWatch, IsQuietWithoutAPath) {
  CalibrationWatch watch;
  EXPECT_EQ(watch.look(""), News::None);
  EXPECT_EQ(watch.calibration(), nullptr);
  EXPECT_EQ(watch.problem(), "");
}

TEST(CalibrationWatch, TellsOfAMissingFileOnceAndReadsItWhenItComes) {
  const config::TemporaryFolder folder;
  const std::string path = folder.path("calibration.yaml");
  CalibrationWatch watch;
  EXPECT_EQ(watch.look(path), News::Missing);
  EXPECT_NE(watch.problem().find(path), std::string::npos) << watch.problem();
  EXPECT_NE(watch.problem().find("sluice calibrate"), std::string::npos) << watch.problem();
  EXPECT_EQ(watch.look(path), News::None);
  EXPECT_NE(watch.problem(), "") << "still missing";
  ASSERT_TRUE(save(sample(), path));
  EXPECT_EQ(watch.look(path), News::Read);
  EXPECT_EQ(watch.problem(), "");
  ASSERT_NE(watch.calibration(), nullptr);
  EXPECT_EQ(watch.calibration()->hosts.size(), 2u);
}

TEST(CalibrationWatch, ReadsTheFileWhenItChangesAndKeepsTheLastGoodOne) {
  const config::TemporaryFolder folder;
  const std::string path = folder.path("calibration.yaml");
  CalibrationWatch watch;
  ASSERT_TRUE(save(sample(), path));
  EXPECT_EQ(watch.look(path), News::Read);
  const auto first = watch.calibration();
  EXPECT_EQ(watch.look(path), News::None) << "unchanged, not read again";
  folder.write("calibration.yaml", "nonsense: [");
  EXPECT_EQ(watch.look(path), News::Broken);
  EXPECT_NE(watch.problem().find(path + ":1"), std::string::npos) << watch.problem();
  EXPECT_EQ(watch.calibration(), first);
  std::filesystem::remove(path);
  EXPECT_EQ(watch.look(path), News::Missing);
  EXPECT_EQ(watch.calibration(), first);
  Calibration other = sample();
  other.hosts.pop_back();
  ASSERT_TRUE(save(other, path));
  EXPECT_EQ(watch.look(path), News::Read);
  EXPECT_EQ(watch.calibration()->hosts.size(), 1u);
}

TEST(CalibrationWatch, ForgetsWhatAnotherFileSaid) {
  const config::TemporaryFolder folder;
  const std::string path = folder.path("calibration.yaml");
  ASSERT_TRUE(save(sample(), path));
  CalibrationWatch watch;
  EXPECT_EQ(watch.look(path), News::Read);
  EXPECT_EQ(watch.look(folder.path("other.yaml")), News::Missing);
  EXPECT_EQ(watch.calibration(), nullptr);
  EXPECT_EQ(watch.look(path), News::Read);
  EXPECT_EQ(watch.look(""), News::None);
  EXPECT_EQ(watch.calibration(), nullptr);
}

}  // namespace
}  // namespace sluice::calibration
