#ifndef RINGSIDE_EXPERIMENTS_VERIFY_EQUIVALENCE_H_
#define RINGSIDE_EXPERIMENTS_VERIFY_EQUIVALENCE_H_

#include <span>

namespace ringside {

/// Returns ||a - reference|| / ||reference||, L2 norms summed in double. Infinite when the lengths
/// differ or a value is not finite. For a zero reference, returns ||a||.
double RelativeDifference(std::span<const float> a, std::span<const float> reference);

/// Whether length and all bits are equal. So -0 differs from 0, and a NaN equals itself.
bool BitwiseEqual(std::span<const float> a, std::span<const float> b);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_VERIFY_EQUIVALENCE_H_
