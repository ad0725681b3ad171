"""Which worker trains which samples in which step: the order of `Sampler` (common/data), for the jobs of the suite."""
import functools

SAMPLES = 96
GLOBAL_BATCH = 8
SEED = 1
STEPS_OF_EPOCH = SAMPLES // GLOBAL_BATCH

_GAMMA = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def _mix(bits):
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & _MASK
    return bits ^ bits >> 31


@functools.lru_cache
def order(epoch):
    """The shuffled samples of an epoch: Fisher and Yates, by the numbers of SplitMix64."""
    state = _mix((SEED + _GAMMA) & _MASK) ^ _mix(epoch * _GAMMA & _MASK)
    shuffled = list(range(SAMPLES))
    for last in range(SAMPLES - 1, 0, -1):
        state = (state + _GAMMA) & _MASK
        other = _mix(state) * (last + 1) >> 64
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return shuffled


def indices(step, worker, workers):
    """The samples that a worker trains in a step."""
    share, larger = divmod(GLOBAL_BATCH, workers)
    begin = step % STEPS_OF_EPOCH * GLOBAL_BATCH + worker * share + min(worker, larger)
    return order(step // STEPS_OF_EPOCH)[begin:begin + share + (worker < larger)]
