"""Made-up buckets of the other all-reduces, for the page's tests: pairs, a tree, shared memory, and a library that hides its chunks."""


def pairs_bucket(sim, step, bucket, elements, start):
    """Recursive halving, then doubling, among a power of two of workers: halves are exchanged, then gathered."""
    workers, at = sim.workers, list(start)
    held = [(0, elements)] * workers
    distances = [1 << i for i in range(workers.bit_length() - 1)]
    for distance in reversed(distances):
        sent = []
        for worker in range(workers):
            offset, size = held[worker]
            low, high = (offset, size // 2), (offset + size // 2, size - size // 2)
            keeps, gives = (low, high) if worker & distance == 0 else (high, low)
            sent.append((worker, worker ^ distance, gives, keeps))
        at = exchange(sim, "reduce-scatter", step, bucket, sent, at)
        held = [keeps for _, _, _, keeps in sent]
    for distance in distances:
        at = exchange(sim, "all-gather", step, bucket, [(worker, worker ^ distance, held[worker], None) for worker in range(workers)], at)
        held = [(min(held[worker][0], held[worker ^ distance][0]), held[worker][1] + held[worker ^ distance][1]) for worker in range(workers)]
    return at


def exchange(sim, phase, step, bucket, sent, at):
    ends = list(at)
    for worker, other, (offset, size), _ in sent:
        there = sim.send(phase, worker, other, step, bucket, offset, size, max(at[worker], at[other]), at[other])
        ends[other] = max(ends[other], there)
    return ends


def tree_bucket(sim, step, bucket, elements, start):
    """A binary tree: children send to their parents, and the sum goes back."""
    at = list(start)
    for worker in reversed(range(1, sim.workers)):
        parent = (worker - 1) // 2
        at[parent] = max(at[parent], sim.send("reduce", worker, parent, step, bucket, 0, elements, at[worker], at[parent]))
    for worker in range(1, sim.workers):
        parent = (worker - 1) // 2
        at[worker] = sim.send("broadcast", parent, worker, step, bucket, 0, elements, at[parent], at[worker])
    return at


def shared_bucket(sim, step, bucket, elements, start):
    """Each worker sums its slice of all gradients in place, once all are there."""
    ready, ends = max(start), []
    for worker in range(sim.workers):
        offset, size = elements * worker // sim.workers, elements // sim.workers
        end = ready + 40 + worker * 15
        sim.chunk("slice", worker, worker, step, bucket, offset, size, ready, end, end, start[worker])
        ends.append(end)
    return [max(ends)] * sim.workers


def hidden_bucket(sim, step, bucket, elements, start):
    """A library's all-reduce: each worker's call is one chunk to nowhere."""
    end = max(start) + 8 * elements / sim.rate
    for worker in range(sim.workers):
        sim.chunk("all-reduce", worker, -1, step, bucket, 0, elements, start[worker], end, end, start[worker])
    return [end] * sim.workers


BUCKETS = {"pairs": pairs_bucket, "tree": tree_bucket, "host": shared_bucket, "all-reduce": hidden_bucket}
