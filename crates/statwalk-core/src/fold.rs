// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink made of three closures.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::batch::Batch;
use crate::directory::Origin;
use crate::error::Error;
use crate::fields::Fields;
use crate::report::Outcome;
use crate::scan::Scan;
use crate::sink::{Collect, Context, Sink};

/// The closures of [`Scan::fold`].
struct Fold<I, E, M> {
    fields: Fields,
    init: I,
    each: Arc<E>,
    merge: M,
}

/// The value of one worker.
struct FoldState<T, E> {
    value: T,
    each: Arc<E>,
}

impl Scan {
    /// Folds all batches into one value, on as many workers as pay.
    ///
    /// Each worker begins with `init()`, folds with `each`, and `merge` puts the values
    /// of two workers together. Which worker sees which batch depends on chance, so
    /// `merge` must not depend on the order. Directories are no rows of batches: a
    /// [`Sink`] gets them too.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_core::{Fields, Scan};
    ///
    /// let sum = |total: &mut u64, batch: &statwalk_core::Batch| {
    ///     *total += batch.size_bytes().iter().sum::<u64>();
    /// };
    /// let outcome = Scan::new("src").fold(Fields::SIZE, || 0, move |total, _, batch| sum(total, batch), |a, b| a + b)?;
    /// assert!(outcome.report.is_complete() && outcome.output > 0);
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn fold<T: Send + 'static>(
        &self,
        fields: Fields,
        init: impl Fn() -> T,
        each: impl Fn(&mut T, Origin<'_>, &Batch) + Send + Sync + 'static,
        merge: impl Fn(T, T) -> T,
    ) -> Result<Outcome<T>, Error> {
        self.run(&Fold {
            fields,
            init,
            each: Arc::new(each),
            merge,
        })
    }
}

impl<T, I, E, M> Sink for Fold<I, E, M>
where
    T: Send + 'static,
    I: Fn() -> T,
    E: Fn(&mut T, Origin<'_>, &Batch) + Send + Sync + 'static,
    M: Fn(T, T) -> T,
{
    type State = FoldState<T, E>;
    type Output = T;

    fn fields(&self) -> Fields {
        self.fields
    }

    fn states(&self, _: &Context, count: usize) -> Vec<FoldState<T, E>> {
        let state = || FoldState {
            value: (self.init)(),
            each: Arc::clone(&self.each),
        };
        (0..count).map(|_| state()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<FoldState<T, E>>) -> T {
        let values = states.into_iter().map(|state| state.value);
        values.reduce(&self.merge).unwrap_or_else(&self.init)
    }
}

impl<T, E> Collect for FoldState<T, E>
where
    T: Send + 'static,
    E: Fn(&mut T, Origin<'_>, &Batch) + Send + Sync + 'static,
{
    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        (self.each)(&mut self.value, origin, batch);
        ControlFlow::Continue(())
    }
}
