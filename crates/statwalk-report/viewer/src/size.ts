// SPDX-License-Identifier: MIT OR Apache-2.0

// Sizes as the program writes them: powers of 1024 and three digits (size.rs of statwalk-view).

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
const SPOKEN = ["kibi", "mebi", "gibi", "tebi", "pebi", "exbi", "zebi", "yobi"];

interface Scaled {
  number: string;
  /** The power of 1024; 0 for bytes. */
  power: number;
}

function scaled(bytes: bigint): Scaled {
  if (bytes < 1024n) return { number: bytes.toString(), power: 0 };
  let power = 1;
  let unit = 1024n;
  while (power < UNITS.length && bytes >= (unit / 2n) * 1999n) {
    power += 1;
    unit *= 1024n;
  }
  const rounded = (steps: bigint) => (bytes * steps * 2n + unit) / (unit * 2n);
  const hundredths = rounded(100n);
  if (hundredths < 1000n) return { number: decimal(hundredths, 2), power };
  const tenths = rounded(10n);
  if (tenths < 1000n) return { number: decimal(tenths, 1), power };
  return { number: rounded(1n).toString(), power };
}

function decimal(steps: bigint, places: number): string {
  const digits = steps.toString().padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** `2.40 GiB` */
export function size(bytes: bigint): string {
  if (bytes < 0n) return `−${size(-bytes)}`;
  const { number, power } = scaled(bytes);
  return `${number} ${power === 0 ? "B" : UNITS[power - 1]}`;
}

/** `2.40 gibibytes`: a voice reads letters of a unit one by one. */
export function spokenSize(bytes: bigint): string {
  const { number, power } = scaled(bytes);
  const unit = power === 0 ? "byte" : `${SPOKEN[power - 1]}byte`;
  return `${number} ${unit}${number === "1" ? "" : "s"}`;
}
