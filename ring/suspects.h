#ifndef RINGSIDE_RING_SUSPECTS_H_
#define RINGSIDE_RING_SUSPECTS_H_

#include <string>

#include "common/store.h"

namespace ringside {

/// Who is to blame when a rank is gone: it breaks the whole collective, and most ranks see a
/// neighbour leave that has itself only given up. So a rank that fails writes into the store whom
/// it missed, closes what it has open, and follows these notes to the one rank that wrote none.
///
/// Writes down that `reporter` misses `suspect`. Never throws a `CommError`: where the store is
/// gone, what each rank saw must do.
void ReportSuspect(Store& store, const std::string& prefix, const std::string& reporter,
                   const std::string& suspect);
/// The last of those who suspect each other from `suspect` on; waits 300 ms for notes.
std::string FindCulprit(Store& store, const std::string& prefix, const std::string& reporter,
                        const std::string& suspect);

}  // namespace ringside

#endif  // RINGSIDE_RING_SUSPECTS_H_
