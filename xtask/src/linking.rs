// SPDX-License-Identifier: MIT OR Apache-2.0

//! How a program is linked, as its ELF file says: elf(5).
//!
//! statwalk parses images that others made, often as root. So its addresses are
//! random, and its tables of addresses are read-only before `main` begins.

use std::path::Path;

use object::elf::{
    DF_1_NOW, DF_BIND_NOW, DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_NEEDED, ET_DYN, FileHeader64,
    PT_GNU_RELRO, PT_INTERP,
};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{Endianness, read};

/// The properties of a linked program that decide what a fault of memory is worth.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Linking {
    /// The kernel chooses the addresses.
    is_position_independent: bool,
    /// The loader makes the tables of addresses read-only.
    has_relro: bool,
    /// The loader resolves all of them before the program begins.
    binds_now: bool,
    /// It needs no loader and no library.
    pub(crate) is_static: bool,
}

impl Linking {
    /// Reads the file of a program.
    pub(crate) fn of(program: &Path) -> Result<Linking, String> {
        let bytes = std::fs::read(program);
        let bytes = bytes.map_err(|error| format!("{}: {error}", program.display()))?;
        Linking::parse(&bytes).map_err(|error| format!("{}: {error}", program.display()))
    }

    fn parse(bytes: &[u8]) -> read::Result<Linking> {
        let header = FileHeader64::<Endianness>::parse(bytes)?;
        let endian = header.endian()?;
        let mut linking = Linking {
            is_position_independent: header.e_type(endian) == ET_DYN,
            has_relro: false,
            binds_now: false,
            is_static: true,
        };
        for segment in header.program_headers(endian, bytes)? {
            match segment.p_type(endian) {
                PT_GNU_RELRO => linking.has_relro = true,
                PT_INTERP => linking.is_static = false,
                _ => {}
            }
            for entry in segment.dynamic(endian, bytes)?.unwrap_or_default() {
                let value = entry.val(endian);
                match entry.tag(endian) {
                    DT_NEEDED => linking.is_static = false,
                    DT_BIND_NOW => linking.binds_now = true,
                    DT_FLAGS => linking.binds_now |= value & DF_BIND_NOW.0 != 0,
                    DT_FLAGS_1 => linking.binds_now |= value & DF_1_NOW.0 != 0,
                    _ => {}
                }
            }
        }
        Ok(linking)
    }

    /// Fails unless it is position-independent with full RELRO.
    pub(crate) fn check(&self) -> Result<(), String> {
        let faults: Vec<&str> = [
            (
                self.is_position_independent,
                "its addresses are fixed (ET_EXEC)",
            ),
            (self.has_relro, "no part is made read-only (PT_GNU_RELRO)"),
            (self.binds_now, "symbols are bound late (DF_BIND_NOW)"),
        ]
        .into_iter()
        .filter(|(holds, _)| !holds)
        .map(|(_, fault)| fault)
        .collect();
        match faults.is_empty() {
            true => Ok(()),
            false => Err(faults.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where elf(5) has the type of the file and the headers of its segments.
    const TYPE_AT: usize = 16;
    const SEGMENTS_AT: usize = 64;
    const SEGMENT_BYTES: usize = 56;

    fn this_program() -> Vec<u8> {
        let path = std::env::current_exe().expect("a test has a path");
        std::fs::read(path).expect("a program that runs can be read")
    }

    /// The header of the first segment of a kind.
    fn segment(bytes: &[u8], kind: object::elf::ProgramType) -> usize {
        let mut all = (SEGMENTS_AT..).step_by(SEGMENT_BYTES);
        all.find(|&at| bytes[at..at + 4] == kind.0.to_ne_bytes())
            .expect("the test program has such a segment")
    }

    #[test]
    fn an_ordinary_program_is_dynamic_with_full_relro() {
        let linking = Linking::parse(&this_program()).unwrap();
        assert_eq!(linking.check(), Ok(()));
        assert!(!linking.is_static);
    }

    #[test]
    fn a_fixed_address_is_a_fault() {
        let mut bytes = this_program();
        bytes[TYPE_AT..TYPE_AT + 2].copy_from_slice(&object::elf::ET_EXEC.0.to_ne_bytes());
        let fault = Linking::parse(&bytes).unwrap().check().unwrap_err();
        assert_eq!(fault, "its addresses are fixed (ET_EXEC)");
    }

    #[test]
    fn a_program_without_relro_or_that_binds_late_is_at_fault() {
        let mut bytes = this_program();
        for kind in [PT_GNU_RELRO, object::elf::PT_DYNAMIC] {
            let at = segment(&bytes, kind);
            bytes[at..at + 4].fill(0);
        }
        let fault = Linking::parse(&bytes).unwrap().check().unwrap_err();
        assert_eq!(
            fault,
            "no part is made read-only (PT_GNU_RELRO); symbols are bound late (DF_BIND_NOW)"
        );
    }

    #[test]
    fn a_program_is_static_without_a_loader_and_libraries() {
        let mut bytes = this_program();
        let at = segment(&bytes, PT_INTERP);
        bytes[at..at + 4].fill(0);
        assert!(
            !Linking::parse(&bytes).unwrap().is_static,
            "it needs libraries"
        );
        let at = segment(&bytes, object::elf::PT_DYNAMIC);
        bytes[at..at + 4].fill(0);
        assert!(Linking::parse(&bytes).unwrap().is_static);
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(Linking::parse(b"#!/bin/sh\n").is_err());
    }
}
