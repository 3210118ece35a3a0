"""The statistics of the experiment: medians, bootstrap intervals of their differences, lines through sweeps."""

import random

RESAMPLES = 10_000


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def quantile(ordered, q):
    """Type 7."""
    at = q * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def resampled_median(ordered, generator):
    """The median of a resample of n sorted values, drawn at once: it is a known function of order statistics of n uniform
    numbers. Drawing those by Beta variates is exact for odd n, and for even n up to the two middle values being drawn
    together, which is done here too."""
    n = len(ordered)
    low = n // 2 if n % 2 else n // 2 - 1  # rank of the lower middle, from 0
    u = generator.betavariate(low + 1, n - low)
    first = ordered[min(int(u * n), n - 1)]
    if n % 2:
        return first
    # The least of the n - low - 1 greater uniform numbers.
    v = 1 - (1 - u) * generator.random() ** (1 / (n - low - 1))
    return (first + ordered[min(int(v * n), n - 1)]) / 2


def median_difference(a, b, seed=1, resamples=RESAMPLES):
    """median(a) - median(b) with its 95% percentile bootstrap interval."""
    generator = random.Random(seed)
    sorted_a, sorted_b = sorted(a), sorted(b)
    differences = sorted(resampled_median(sorted_a, generator) - resampled_median(sorted_b, generator) for _ in range(resamples))
    return median(a) - median(b), quantile(differences, 0.025), quantile(differences, 0.975)


def least_median(arms):
    """The name of the arm, of {name: samples}, whose median is least; the first of them on a tie."""
    return min(arms, key=lambda name: median(arms[name]))


def difference_to_best(ours, arms, seed=1, resamples=RESAMPLES):
    """What `ours` takes more than the best of several arms, {name: samples in the order in which they were taken}:
    ((difference of medians, low, high) with a 95% percentile bootstrap interval, the arms picked).

    An arm picked because its median came out least came out lower than it is, the more so the more arms are nearly alike:
    with three that are the same, by 0.85 standard errors of a median. Ours, which nobody picked, would be compared with the
    luck of the best. So the best is picked by one half of each arm's samples, every other one, and its median taken of the
    other half; then the other way round; and the mean of both is compared with. Every sample of a picked arm is measured
    once, so the interval is as narrow as that of a plain comparison. Arms that differ for sure are picked either way."""
    halves = [{name: values[start::2] for name, values in arms.items()} for start in (0, 1)]
    picked = [least_median(half) for half in halves]
    measured = [sorted(halves[1][picked[0]]), sorted(halves[0][picked[1]])]
    generator = random.Random(seed)
    sorted_ours = sorted(ours)
    differences = sorted(
        resampled_median(sorted_ours, generator) - sum(resampled_median(half, generator) for half in measured) / 2
        for _ in range(resamples)
    )
    difference = median(ours) - sum(median(half) for half in measured) / 2
    return (difference, quantile(differences, 0.025), quantile(differences, 0.975)), picked


def excludes_zero(interval):
    return interval[1] > 0 or interval[2] < 0


def least_squares(points):
    """(intercept, slope) of a line through (x, y) pairs."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - slope * mean_x, slope


def crossover(base_a, per_call_a, base_b, per_call_b):
    """The number of calls beyond which b is faster; None when it never is."""
    return (base_b - base_a) / (per_call_a - per_call_b) if per_call_a > per_call_b else None


def interpolated_crossover(sweep_a, sweep_b):
    """Where b becomes faster, linear between the measured numbers of calls; None when it never does."""
    numbers = sorted(sweep_a)
    for low, high in zip(numbers, numbers[1:]):
        d0, d1 = sweep_a[low] - sweep_b[low], sweep_a[high] - sweep_b[high]
        if d0 <= 0 < d1:
            return low + (high - low) * -d0 / (d1 - d0)
    return None
