// Sums over a run's record: steps, bytes of each worker. The page's figures and its questions use the same sums.

/** The steps that the record has from begin to end, with what was sent in each: {step, begin, end, duration, sent: [by node], received: [by node], chunks}. */
export function stepTotals(run) {
  const totals = new Map(run.steps.map((step) => [step.step, { step: step.step, begin: step.begin_us, end: step.end_us, duration: step.end_us - step.begin_us,
                                                               sent: run.nodes.map(() => 0), received: run.nodes.map(() => 0), chunks: 0 }]));
  const { transfers } = run;
  for (let row = 0; row < transfers.count; ++row) {
    const total = totals.get(transfers.step[row]);
    if (!total || transfers.to[row] === transfers.from[row]) continue;
    ++total.chunks;
    total.sent[transfers.from[row]] += transfers.bytes[row];
    if (transfers.to[row] >= 0) total.received[transfers.to[row]] += transfers.bytes[row];
  }
  return [...totals.values()];
}

export const mean = (values) => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length);

/** Bytes that a node of `nodes` sends or receives in a step, as a mean over all whole steps; null without chunks. */
export function bytesAStep(totals, nodes, which) {
  const whole = totals.filter((total) => total.chunks > 0);
  return mean(whole.flatMap((total) => nodes.map((node) => total[which][node.index])));
}
