// SPDX-License-Identifier: MIT OR Apache-2.0

// Parts of a whole, in per cent, as the program writes them (share.rs of statwalk-view).

export function share(part: bigint, whole: bigint): string {
  if (part === 0n || whole === 0n) return "0 %";
  const bounded = part < whole ? part : whole;
  const percent = (bounded * 200n + whole) / (whole * 2n);
  return percent === 0n ? "<1 %" : `${percent} %`;
}

/** The part as a fraction, for lengths and areas. */
export function fraction(part: bigint, whole: bigint): number {
  return whole === 0n || part < 0n ? 0 : Number((part * 1_000_000n) / whole) / 1_000_000;
}
