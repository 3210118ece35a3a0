#pragma once

#include <string>
#include <vector>

#include "sim/plb_experiment.h"

namespace sluice::sim {

// A figure of the PLB paper's evaluation beside ours.
struct PaperFigure {
  std::string what;
  std::string paper;
  std::string ours;
  std::string deviation;  // ours less the paper's, or what holds of it
  std::string why;
};
// Those for which the rows have what is needed: the figures at T = 1000 need that T and their shares.
std::vector<PaperFigure> paper_figures(const std::vector<PlbRow>&);

// What the paper is after, as we read it, judged on the configurations at hand.
//   O1: Premium is quicker than under shared round robin when capacity is short, or as quick within 1%.
//   O2: no replica idles: utilization is not below that of a static partition cut for another mix.
//   O3: Freemium pays within limits: it is not slower than under the worse static partition, and all queries
//       together are near round robin.
struct Objective {
  std::string name;
  bool holds = false;
  std::string evidence;
};
std::vector<Objective> objectives(const std::vector<PlbRow>&);

Table paper_table(const std::vector<PaperFigure>&);

}  // namespace sluice::sim
