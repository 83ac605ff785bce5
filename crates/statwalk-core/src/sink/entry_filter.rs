// SPDX-License-Identifier: MIT OR Apache-2.0

//! The test that a caller gives to a sink: which entries count.

use std::fmt;
use std::sync::Arc;

use crate::batch::EntryRef;
use crate::directory::Directory;
use crate::fields::Fields;

type Test = dyn Fn(Option<&Directory<'_>>, &EntryRef<'_>) -> bool + Send + Sync;

/// Gives a sink with a field `filter` the option of a test: what it does with entries, and
/// what else there is to say.
macro_rules! with_filter {
    ($sink:ident $does:literal $(#[$more:meta])*) => {
        impl $sink {
            #[doc = concat!($does, " only entries that pass a test, which needs the given fields.")]
            ///
            /// The test gets the directory that holds the entry, or the directory itself. A root
            /// that is no directory has none.
            $(#[$more])*
            #[must_use]
            pub fn with_filter(
                mut self,
                fields: $crate::Fields,
                test: impl Fn(Option<&$crate::Directory<'_>>, &$crate::EntryRef<'_>) -> bool
                + Send
                + Sync
                + 'static,
            ) -> $sink {
                self.filter = EntryFilter::new(fields, test);
                self
            }
        }
    };
}
pub(super) use with_filter;

/// A test of entries, or none, which all of them pass.
#[derive(Clone, Default)]
pub(super) struct EntryFilter {
    test: Option<Arc<Test>>,
    fields: Fields,
}

impl fmt::Debug for EntryFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryFilter")
            .field("is_set", &self.is_set())
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

impl EntryFilter {
    /// A test that needs the given fields.
    pub(super) fn new(
        fields: Fields,
        test: impl Fn(Option<&Directory<'_>>, &EntryRef<'_>) -> bool + Send + Sync + 'static,
    ) -> EntryFilter {
        EntryFilter {
            test: Some(Arc::new(test)),
            fields,
        }
    }

    /// The fields that the test needs.
    pub(super) fn fields(&self) -> Fields {
        self.fields
    }

    /// Whether there is a test.
    pub(super) fn is_set(&self) -> bool {
        self.test.is_some()
    }

    /// Whether a directory passes, as an entry.
    pub(super) fn passes_directory(&self, directory: &Directory<'_>) -> bool {
        self.passes(Some(directory), || EntryRef {
            name: directory.name(),
            attributes: *directory.attributes(),
        })
    }

    /// Whether an entry passes. The entry is made only for a test.
    #[inline]
    pub(super) fn passes<'a>(
        &self,
        directory: Option<&Directory<'_>>,
        entry: impl FnOnce() -> EntryRef<'a>,
    ) -> bool {
        match &self.test {
            Some(test) => test(directory, &entry()),
            None => true,
        }
    }
}
