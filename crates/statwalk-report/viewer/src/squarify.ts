// SPDX-License-Identifier: MIT OR Apache-2.0

// Squarified treemaps (Bruls, Huizing, van Wijk 2000), by the rules of d3-hierarchy 3, which
// the tests take as oracle. Neighbours get the same float for the edge between them, so the
// edges still meet after rounding, and an error of rounding never adds up.

/** The shape that rectangles aim at: wide enough for a name. */
const RATIO = (1 + Math.sqrt(5)) / 2;

export type Place = (index: number, x0: number, y0: number, x1: number, y1: number) => void;

/** Divides a rectangle among `count` weights, of which none is negative. */
export function squarify(
  weights: ArrayLike<number>,
  count: number,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  place: Place,
): void {
  let rest = 0;
  for (let index = 0; index < count; index++) rest += weights[index]!;
  let first = 0;
  while (first < count) {
    const width = x1 - x0;
    const height = y1 - y0;
    let end = first;
    let sum: number;
    do sum = weights[end++]!;
    while (sum === 0 && end < count);
    let least = sum;
    let most = sum;
    const alpha = Math.max(height / width, width / height) / (rest * RATIO);
    let beta = sum * sum * alpha;
    let worst = Math.max(most / beta, beta / least);
    for (; end < count; end++) {
      const weight = weights[end]!;
      sum += weight;
      if (weight < least) least = weight;
      if (weight > most) most = weight;
      beta = sum * sum * alpha;
      const ratio = Math.max(most / beta, beta / least);
      if (ratio > worst) {
        sum -= weight;
        break;
      }
      worst = ratio;
    }
    // What floats lose must not leave a gap behind the last row.
    const isLast = end >= count || !(rest > 0);
    if (width < height) {
      const edge = isLast ? y1 : Math.min(y1, y0 + (height * sum) / rest);
      row(weights, first, end, sum, x0, x1, (index, from, to) => place(index, from, y0, to, edge));
      y0 = edge;
    } else {
      const edge = isLast ? x1 : Math.min(x1, x0 + (width * sum) / rest);
      row(weights, first, end, sum, y0, y1, (index, from, to) => place(index, x0, from, edge, to));
      x0 = edge;
    }
    rest -= sum;
    first = end;
  }
}

function row(
  weights: ArrayLike<number>,
  first: number,
  end: number,
  sum: number,
  start: number,
  stop: number,
  place: (index: number, from: number, to: number) => void,
): void {
  let from = start;
  let before = 0;
  for (let index = first; index < end; index++) {
    before += weights[index]!;
    const isLast = index === end - 1;
    const to = isLast || sum === 0 ? stop : Math.min(stop, start + ((stop - start) * before) / sum);
    place(index, from, to);
    from = to;
  }
}
