#ifndef RINGSIDE_TESTS_LAYERING_BUILD_RECORD_H_
#define RINGSIDE_TESTS_LAYERING_BUILD_RECORD_H_

#include <string>

#include "tests/layering/folder_graph.h"

namespace ringside {

/// What the build says in generated/folders.txt, which cmake/RingsideLibrary.cmake writes.
struct BuildRecord {
  Graph folders;     ///< What each folder's target links of ours, or declares.
  Graph packages;    ///< What each folder's target links besides.
  Graph made;        ///< What sources that are made while building include.
  Graph components;  ///< What each archive links.
  Names left_out;    ///< Folders that this configuration does not build.
};

BuildRecord ParseBuildRecord(const std::string& text);

/// The record of the build that this test belongs to.
const BuildRecord& TheBuild();

}  // namespace ringside

#endif  // RINGSIDE_TESTS_LAYERING_BUILD_RECORD_H_
