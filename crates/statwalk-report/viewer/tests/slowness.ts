// SPDX-License-Identifier: MIT OR Apache-2.0

/** A fixed job, in milliseconds, on the machine that the limits of time are for: two processors, nothing beside. */
const JOB_MS = 46;

/** Does that job, and gives the milliseconds that it took. It stands for itself: a page runs it, too. */
export function job(): number {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    let state = 7;
    const numbers = Float64Array.from({ length: 200_000 }, () => (state = (state * 16807) % 2147483647));
    const start = performance.now();
    numbers.sort((a, b) => a - b);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/**
 * How many times as long a machine takes now that took so long for the job, and at least 1.
 *
 * A limit of time times this number holds on a slow or busy machine, too, and is no looser on a fast one.
 */
export const slownessOf = (tookMs: number): number => Math.max(1, tookMs / JOB_MS);
