#include "ringside/experiments/lesson/lesson_table.h"

namespace ringside {

std::vector<Lesson> Lessons() {
  std::vector<Lesson> lessons{OneServerLesson(),     RingBytesLesson(),     ServersLesson(),
                              SmallMessagesLesson(), OverlapLesson(),       SlowWorkerLesson(),
                              StalenessLesson(),     StalenessCostLesson(), CodecsLesson(),
                              FrozenServerLesson()};
  int number = 0;
  for (Lesson& lesson : lessons) lesson.number = ++number;
  return lessons;
}

}  // namespace ringside
