// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories of several rows in one table.

use statwalk_core::{AttributeColumns, Bits, Columns, Directories, OddTime};

/// Adds a row of another table, which keeps the same fields.
pub(crate) fn push_row(directories: &mut Directories, others: &Directories, row: usize) {
    push_columns(&mut directories.columns, &others.columns, row);
    directories.ids.push(others.ids[row]);
    directories.has_parent.push(others.has_parent.get(row));
    directories.roots.push(others.roots[row]);
    directories.states.push(others.states[row]);
}

fn push_columns(columns: &mut Columns, others: &Columns, row: usize) {
    if columns.name_offsets.is_empty() {
        columns.name_offsets.push(0);
    }
    columns.names.extend_from_slice(others.name(row));
    columns.name_offsets.push(columns.names.len() as i32);
    columns.dirs.push(others.dirs[row]);
    columns.kinds.push(others.kinds[row]);
    columns.is_direct.push(others.is_direct.get(row));
    columns.is_known.push(others.is_known.get(row));
    push_bit(&mut columns.mtime_is_known, &others.mtime_is_known, row);
    push_bit(&mut columns.atime_is_known, &others.atime_is_known, row);
    push_bit(&mut columns.ctime_is_known, &others.ctime_is_known, row);
    push_bit(&mut columns.btime_is_known, &others.btime_is_known, row);
    let place = columns.kinds.len() as u32 - 1;
    push_attributes(&mut columns.attributes, &others.attributes, row, place);
}

fn push_bit(bits: &mut Bits, others: &Bits, row: usize) {
    if !others.is_empty() {
        bits.push(others.get(row));
    }
}

/// Adds a row, which becomes the one of a place.
fn push_attributes(
    columns: &mut AttributeColumns,
    others: &AttributeColumns,
    row: usize,
    place: u32,
) {
    macro_rules! push {
        ($($column:ident)+) => {
            $(if let Some(&value) = others.$column.get(row) {
                columns.$column.push(value);
            })+
        };
    }
    push!(size_bytes allocated_bytes links inos devs mtime_ns atime_ns ctime_ns btime_ns
        uids gids modes rdevs);
    let of_row = (others.odd_times.iter()).filter(|odd| odd.row as usize == row);
    let moved = of_row.map(|odd| OddTime::new(place, odd.field, odd.seconds));
    columns.odd_times.extend(moved);
}
