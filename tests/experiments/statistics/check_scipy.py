"""Computes the figures of scipy_test.cc again with numpy and scipy, and compares.

Deterministic figures must agree within 1e-12. Both sides resample intervals, so the ends may differ
by the error of resampling.
"""
import json
import math
import sys

import numpy
import scipy.stats

SEEDS = 4
failures = []
checked = 0


def check(what, ours, theirs, tolerance=1e-12):
    global checked
    checked += 1
    if not abs(ours - theirs) <= tolerance * max(1.0, abs(theirs)):
        failures.append(f"{what}: {ours!r} here, {theirs!r} there, tolerance {tolerance:.3g}")


def check_end(what, end, probability, drawn, resamples):
    """Checks that the end is the quantile `probability` of scipy's resamples, up to our error.

    A median of few runs takes few values, so quantiles jump from one value to the next. Therefore
    the probabilities must agree, within five standard deviations.
    """
    global checked
    checked += 1
    error = 5 * math.sqrt(probability * (1 - probability) / resamples)
    rounding = 1e-9 * abs(end)
    below = numpy.mean(drawn < end - rounding)
    up_to = numpy.mean(drawn <= end + rounding)
    if not below - error <= probability <= up_to + error:
        failures.append(f"{what}: {end!r} has {below:.4f} to {up_to:.4f} of scipy's resamples below, "
                        f"and should have {probability}")


def check_interval(what, ours, data, statistic, paired, numbers):
    drawn = []
    for seed in range(SEEDS):
        result = scipy.stats.bootstrap(
            data, statistic, paired=paired, vectorized=True, method="percentile",
            n_resamples=numbers["resamples"], random_state=numpy.random.default_rng(seed))
        drawn.append(result.bootstrap_distribution)
    drawn = numpy.concatenate(drawn)
    tail = (1 - numbers["confidence"]) / 2
    check_end(f"{what}: low end", ours[0], tail, drawn, numbers["resamples"])
    check_end(f"{what}: high end", ours[1], 1 - tail, drawn, numbers["resamples"])


def median(values, axis=-1):
    return numpy.median(values, axis=axis)


def ratio_of_medians(a, b, axis=-1):
    return numpy.median(a, axis=axis) / numpy.median(b, axis=axis)


def check_sample(sample, numbers):
    values = numpy.array(sample["values"])
    for q, ours in sample["quantiles"]:
        check(f"quantile {q} of {len(values)}", ours, numpy.quantile(values, q))
    check_interval(f"median of {len(values)}", sample["median_interval"], (values,), median, False,
                   numbers)


def check_comparison(comparison, numbers):
    a = numpy.array(comparison["a"])
    b = numpy.array(comparison["b"])
    what = f"{'paired' if comparison['paired'] else 'independent'} {len(a)} and {len(b)}"
    check(f"{what}: ratio", comparison["ratio"], numpy.median(a) / numpy.median(b))
    if comparison["paired"]:
        wins = numpy.mean((a > b) + 0.5 * (a == b))
    else:
        wins = scipy.stats.mannwhitneyu(a, b).statistic / (len(a) * len(b))
    check(f"{what}: probability", comparison["p_greater"], wins)
    check_interval(what, comparison["interval"], (a, b), ratio_of_medians, comparison["paired"],
                   numbers)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        numbers = json.load(file)
    for sample in numbers["samples"]:
        check_sample(sample, numbers)
    for comparison in numbers["comparisons"]:
        check_comparison(comparison, numbers)
    line = numbers["line"]
    fit = scipy.stats.linregress(line["x"], line["y"])
    check("slope", line["slope"], fit.slope)
    check("intercept", line["intercept"], fit.intercept)
    check("r2", line["r2"], fit.rvalue ** 2)
    for failure in failures:
        print(failure)
    print(f"{checked} figures checked, {len(failures)} differ" if failures
          else f"{checked} figures agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
