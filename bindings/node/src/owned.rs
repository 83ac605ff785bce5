// SPDX-License-Identifier: MIT OR Apache-2.0

//! Steps whose bytes V8 owns.
//!
//! Node frees the memory of a Rust array in a turn of its event loop. A loop that gives it no
//! turn would keep all tables of a scan. The memory of V8 goes with the next collection.

use napi::Env;
use napi::bindgen_prelude::{
    BigInt64Array, BigInt64ArraySlice, BigUint64Array, BigUint64ArraySlice, Either4, Float64Array,
    Float64ArraySlice, Int32Array, Int32ArraySlice, Result, Uint8Array, Uint8ArraySlice,
    Uint16Array, Uint16ArraySlice, Uint32Array, Uint32ArraySlice,
};

use crate::{AttributeColumn, Columns, ErrorItem, Step};

/// An array with a copy that V8 owns.
trait Owned: Sized {
    fn owned(self, env: &Env) -> Result<Self>;
}

macro_rules! arrays {
    ($($array:ident $slice:ident,)+) => {
        $(impl Owned for $array {
            fn owned(self, env: &Env) -> Result<$array> {
                $slice::copy_from(env, &self[..])?.into_typed_array(env)
            }
        })+
    };
}

arrays! {
    Uint8Array Uint8ArraySlice,
    Uint16Array Uint16ArraySlice,
    Uint32Array Uint32ArraySlice,
    Int32Array Int32ArraySlice,
    Float64Array Float64ArraySlice,
    BigInt64Array BigInt64ArraySlice,
    BigUint64Array BigUint64ArraySlice,
}

impl<A: Owned> Owned for Option<A> {
    fn owned(self, env: &Env) -> Result<Option<A>> {
        self.map(|array| array.owned(env)).transpose()
    }
}

/// The same step, for a caller who holds the event loop.
pub(crate) fn step(step: Step, env: &Env) -> Result<Step> {
    Ok(Step {
        columns: step.columns.map(|of| columns(of, env)).transpose()?,
        error: step.error.map(|of| error(of, env)).transpose()?,
        report: step.report,
    })
}

fn error(of: ErrorItem, env: &Env) -> Result<ErrorItem> {
    let path = of.path.owned(env)?;
    Ok(ErrorItem {
        path,
        operation: of.operation,
        number: of.number,
        reason: of.reason,
    })
}

fn columns(of: Columns, env: &Env) -> Result<Columns> {
    let attributes = of.attributes.into_iter().map(|of| attribute(of, env));
    Ok(Columns {
        length: of.length,
        ids: of.ids.owned(env)?,
        dirs: of.dirs.owned(env)?,
        prefixes: of.prefixes.owned(env)?,
        prefix_bytes: of.prefix_bytes.owned(env)?,
        prefix_offsets: of.prefix_offsets.owned(env)?,
        names: of.names.owned(env)?,
        name_offsets: of.name_offsets.owned(env)?,
        paths: of.paths.owned(env)?,
        path_offsets: of.path_offsets.owned(env)?,
        is_text: of.is_text,
        types: of.types.owned(env)?,
        is_known: of.is_known.owned(env)?,
        refusals: of.refusals,
        attributes: attributes.collect::<Result<_>>()?,
    })
}

fn attribute(of: AttributeColumn, env: &Env) -> Result<AttributeColumn> {
    Ok(AttributeColumn {
        name: of.name,
        values: match of.values {
            Either4::A(values) => Either4::A(values.owned(env)?),
            Either4::B(values) => Either4::B(values.owned(env)?),
            Either4::C(values) => Either4::C(values.owned(env)?),
            Either4::D(values) => Either4::D(values.owned(env)?),
        },
        ms: of.ms.owned(env)?,
        is_known: of.is_known.owned(env)?,
    })
}
