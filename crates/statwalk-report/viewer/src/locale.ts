// SPDX-License-Identifier: MIT OR Apache-2.0

// Counts and dates in the reader's locale and time zone.

const counts = new Intl.NumberFormat();
const days = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function count(number: bigint | number): string {
  return counts.format(number);
}

/** A number and its noun: `1 file`, `2,113 files`. */
export function counted(number: bigint | number, one: string, many: string): string {
  return `${count(number)} ${number == 1 ? one : many}`;
}

export function day(seconds: number | undefined): string {
  return dated(days, seconds);
}

export function moment(seconds: number | undefined): string {
  return dated(moments, seconds);
}

function dated(format: Intl.DateTimeFormat, seconds: number | undefined): string {
  if (seconds === undefined) return "–";
  const date = new Date(seconds * 1000);
  // A damaged file system has years that no calendar of a browser knows.
  return Number.isNaN(date.getTime()) ? `${seconds} s` : format.format(date);
}
