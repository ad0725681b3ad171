#ifndef RINGSIDE_EXPERIMENTS_LESSON_LESSON_TABLE_H_
#define RINGSIDE_EXPERIMENTS_LESSON_LESSON_TABLE_H_

#include <vector>

#include "ringside/experiments/lesson/lesson.h"

namespace ringside {

/// All lessons in the order of their numbers, from 1. The functions are pure; any thread may call
/// them.
std::vector<Lesson> Lessons();

// One lesson each, in a file of its own.
Lesson OneServerLesson();
Lesson RingBytesLesson();
Lesson ServersLesson();
Lesson SmallMessagesLesson();
Lesson OverlapLesson();
Lesson SlowWorkerLesson();
Lesson StalenessLesson();
Lesson StalenessCostLesson();
Lesson CodecsLesson();
Lesson FrozenServerLesson();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_LESSON_TABLE_H_
