// The bytes of one direction of a link as a function of time. The record has when each chunk began and when it had arrived; what
// happened in between is derived.
import { lastUpTo } from "./intervals.js";

/**
 * Each chunk moves evenly while it is on its way. Where this is more than `rate` (bytes per microsecond), the surplus has crossed
 * earlier: a chunk cannot cross after it has arrived. So the sum never grows faster than `rate`.
 */
export class LinkUse {
  /** `chunks` is a list of [begin, end, bytes], in microseconds. */
  constructor(chunks, rate = Infinity) {
    const knots = evenly(chunks);
    [this.times, this.sums] = rate < Infinity ? within(knots, rate) : knots;
  }

  /** How many bytes have crossed before a time. */
  before(time) {
    const { times, sums } = this;
    const at = lastUpTo(times, time);
    if (at < 0) return 0;
    if (at === times.length - 1) return sums[at];
    return sums[at] + (time - times[at]) / (times[at + 1] - times[at]) * (sums[at + 1] - sums[at]);
  }
}

/** [times, sums] at all begins and ends; between them the sum grows evenly. A chunk that takes no time is a jump: two knots at one time. */
function evenly(chunks) {
  const count = chunks.length;
  const speeds = chunks.map(([begin, end, bytes]) => (end > begin ? bytes / (end - begin) : 0));
  // Event i is the begin of chunk i; event count + i is its end.
  const timeOf = Float64Array.from({ length: 2 * count }, (_, event) => (event < count ? chunks[event][0] : chunks[event - count][1]));
  const order = Uint32Array.from({ length: 2 * count }, (_, event) => event).sort((a, b) => timeOf[a] - timeOf[b] || a - b);
  const times = new Float64Array(2 * count), sums = new Float64Array(2 * count);
  let sum = 0, speed = 0, before = 0;
  order.forEach((event, i) => {
    const time = timeOf[event];
    sum += speed * (time - before);
    if (event < count) speed += speeds[event];
    else if (speeds[event - count] > 0) speed -= speeds[event - count];
    else sum += chunks[event - count][2];
    times[i] = before = time;
    sums[i] = sum;
  });
  return [times, sums];
}

/** The same sums, but from the end to the beginning they fall by `rate` at most. */
function within([times, sums], rate) {
  const out = { times: [], sums: [] };
  const add = (time, sum) => { out.times.push(time); out.sums.push(sum); };
  let drawn = sums.at(-1) ?? 0;
  for (let i = times.length - 1; i >= 0; --i) {
    const long = i + 1 < times.length ? times[i + 1] - times[i] : 0;
    const least = drawn - rate * long;
    const surplus = i + 1 < times.length ? drawn - sums[i + 1] : 0;
    if (least < sums[i] && surplus > 0) {
      // Inside of this part all surplus has found room.
      const speed = (sums[i + 1] - sums[i]) / long;
      const used = surplus / (rate - speed);
      add(times[i + 1] - used, drawn - rate * used);
    }
    drawn = Math.max(least, sums[i]);
    add(times[i], drawn);
  }
  // What has no room at all has crossed before the first begin.
  if (drawn > 0) add(out.times.at(-1) - drawn / rate, 0);
  return [Float64Array.from(out.times.reverse()), Float64Array.from(out.sums.reverse())];
}
