// SPDX-License-Identifier: MIT OR Apache-2.0

// What a round has found.

const SECOND = 1_000_000_000n;

export class Found {
  files = 0;
  directories = 0;
  // A number is exact up to 2^53 - 1, which is 8 PiB.
  bytes = 0;
  records = [];
  failed = false;

  constructor(model) {
    this.wantsSizes = model === 'size';
    this.wantsRecords = model === 'records';
    this.entersNothing = model === 'directory';
    // Times as numbers are milliseconds with a fraction: rounded, so that the
    // last nanoseconds of a second would belong to the next.
    this.statOptions = { bigint: this.wantsRecords };
  }

  // Whether attributes of an entry are wanted that has this type.
  wantsStat(entry) {
    return this.wantsRecords || this.entersNothing || (this.wantsSizes && entry.isFile());
  }

  // Takes the type of an entry: a Dirent or Stats.
  count(entry) {
    if (entry.isDirectory()) this.directories++;
    else this.files++;
  }

  // Takes the attributes of an entry.
  attributes(name, stats) {
    if (this.wantsRecords) {
      this.records.push({
        name,
        size: stats.size,
        mode: stats.mode,
        isFile: stats.isFile(),
        mtime: stats.mtimeNs,
        atime: stats.atimeNs,
        ctime: stats.ctimeNs,
      });
    } else if (stats.isFile()) {
      this.bytes += stats.size;
    }
  }

  fail(error) {
    console.error(error.message);
    this.failed = true;
  }

  answer() {
    if (!this.wantsRecords) return [this.files, this.directories, this.bytes];
    let bytes = 0n;
    let mtime = 0n;
    for (const record of this.records) {
      if (record.isFile) bytes += record.size;
      // The division of bigints rounds towards zero, and the rest can be negative.
      const beyond = ((record.mtime % SECOND) + SECOND) % SECOND;
      mtime += (record.mtime - beyond) / SECOND;
    }
    return [this.files, this.directories, bytes, BigInt.asIntN(64, mtime)];
  }
}
