// Finds what is under way at a time, without looking at everything that ever was.

/** The first index of a sorted array whose value is greater than `value`. */
export function after(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (sorted[middle] > value) high = middle; else low = middle + 1;
  }
  return low;
}

/** The last index of a sorted array whose value is at most `value`; -1 without one. */
export const lastUpTo = (sorted, value) => after(sorted, value) - 1;

const BLOCK = 64;

/** Intervals [begin, end) sorted by their begin. Each block of 64, and each 64 blocks, know their last end. */
export class Intervals {
  constructor(begin, end, rows) {
    this.rows = rows;
    this.begin = Float64Array.from(rows, (row) => begin[row]);
    this.end = Float64Array.from(rows, (row) => end[row]);
    this.blocks = lastEnds(this.end);
    this.groups = lastEnds(this.blocks);
  }

  /** Calls `each(row)` for every interval that has begun by `to` and ends after `from`, in the order of their begins. */
  overlapping(from, to, each) {
    const limit = after(this.begin, to);
    for (let group = 0; group * BLOCK * BLOCK < limit; ++group) {
      if (this.groups[group] <= from) continue;
      const lastBlock = Math.min((group + 1) * BLOCK, this.blocks.length);
      for (let block = group * BLOCK; block < lastBlock && block * BLOCK < limit; ++block) {
        if (this.blocks[block] <= from) continue;
        const last = Math.min((block + 1) * BLOCK, limit);
        for (let i = block * BLOCK; i < last; ++i) if (this.end[i] > from) each(this.rows[i]);
      }
    }
  }

  at(time, each) { this.overlapping(time, time, each); }
}

function lastEnds(ends) {
  const out = new Float64Array(Math.ceil(ends.length / BLOCK)).fill(-Infinity);
  for (let i = 0; i < ends.length; ++i) {
    const block = Math.floor(i / BLOCK);
    if (ends[i] > out[block]) out[block] = ends[i];
  }
  return out;
}

/** Row numbers by `key(row)`, each list in the order of the rows. Rows whose key is negative are left out. */
export function groupRows(count, key) {
  const groups = new Map();
  for (let row = 0; row < count; ++row) {
    const name = key(row);
    if (name < 0) continue;
    const group = groups.get(name);
    if (group) group.push(row); else groups.set(name, [row]);
  }
  return groups;
}

/** The distinct values of all `columns` that are not negative, in order. */
export function distinctTimes(columns) {
  const all = new Float64Array(columns.reduce((sum, column) => sum + column.length, 0));
  let at = 0;
  for (const column of columns) { all.set(column, at); at += column.length; }
  all.sort();
  let size = 0;
  for (const value of all) if (value >= 0 && (size === 0 || value !== all[size - 1])) all[size++] = value;
  return all.slice(0, size);
}
