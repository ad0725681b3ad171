"""Whether faults are mostly found within their bounds without the slack that a busy machine gets."""
import collections
import os
import statistics

FEWEST = 3  # times; of fewer the median says nothing
BUSY = 3  # processes that want to run for each processor: then half of all jobs may be late, too


def is_busy():
    return os.getloadavg()[0] > BUSY * os.cpu_count()


def late_medians(results, slack_s, busy=None):
    """A text for each scenario, and for all scenarios with the same bound, whose median is later than the bound. `busy`: None: asks
    the machine."""
    if not slack_s or (is_busy() if busy is None else busy):
        return []
    times = collections.defaultdict(list)
    for result in results:
        if (bound := result.scenario.bound_s) and result.seconds is not None:
            times[result.scenario.name, bound].append(result.seconds)
            times["all scenarios with this bound", bound].append(result.seconds)
    return [f"{name}: the median of {len(seconds)} jobs is {median:.2f} s, later than {bound} s"
            for (name, bound), seconds in times.items() if len(seconds) >= FEWEST and (median := statistics.median(seconds)) > bound]
