#!/usr/bin/env perl
# SPDX-License-Identifier: MIT OR Apache-2.0

# The sums of a tree, and its largest file: largest.pl PATH. By FFI::Platypus.

use strict;
use warnings;

package Statwalk::Entry {
    use FFI::Platypus::Record;
    # The beginning of sw_entry: new members come at its end.
    record_layout_1(
        opaque => 'path', size_t => 'path_len', opaque => 'name', size_t => 'name_len',
        uint32 => 'known', uint32 => 'depth', uint32 => 'root',
        uint8 => 'type', uint8 => 'state', uint8 => 'is_followed', uint64 => 'size',
    );
}

package main;
use FFI::Platypus 1.00;

use constant { SW_VALUE => 1, SW_ERROR => 2, SW_OK => 0, SW_SIZE => 1 << 2, SW_FILE => 0, SW_DIRECTORY => 1 };

my $ffi = FFI::Platypus->new(api => 1, lib => 'libstatwalk.so.0');
$ffi->type('record(Statwalk::Entry)*' => 'entry');
$ffi->attach(sw_failure => ['opaque'] => 'string');
$ffi->attach(sw_scan_new => ['string'] => 'opaque');
$ffi->attach(sw_scan_set_columns => ['opaque', 'uint32'] => 'int');
$ffi->attach(sw_scan_free => ['opaque'] => 'void');
$ffi->attach(sw_walk_open => ['opaque', 'opaque*'] => 'int');
$ffi->attach(sw_walk_next => ['opaque', 'opaque*'] => 'int');
$ffi->attach(sw_walk_close => ['opaque', 'opaque'] => 'int');
$ffi->attach_cast(entry_at => 'opaque' => 'entry');
$ffi->attach_cast(string_at => 'opaque' => 'string');

my $scan = sw_scan_new($ARGV[0] // '.') or die sw_failure(undef), "\n";
sw_scan_set_columns($scan, SW_SIZE);
sw_walk_open($scan, \my $walk) == SW_OK or die sw_failure(undef), "\n";

my ($files, $directories, $bytes, $largest, $path) = (0, 0, 0, -1, '');
while ((my $got = sw_walk_next($walk, \my $place)) > 0) {
    next if $got == SW_ERROR;    # sw_walk_close says that something is missing.
    my $entry = entry_at($place);
    next if $entry->depth == 0;
    if ($entry->type == SW_DIRECTORY) { $directories++; next }
    $files++;
    next if $entry->type != SW_FILE;
    $bytes += $entry->size;
    ($largest, $path) = ($entry->size, string_at($entry->path)) if $entry->size > $largest;
}
print "$files $directories $bytes\n$largest $path\n";
my $is_complete = sw_walk_close($walk, undef) == SW_OK;
sw_scan_free($scan);
exit !$is_complete;
