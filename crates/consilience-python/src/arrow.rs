//! Columns of Arrow tables, read where they stand.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, ArrayRef, RecordBatch};
use arrow_pyarrow::{FromPyArrow, Table};
use arrow_schema::DataType;
use consilience::Run;
use consilience::ensemble::{HardMember, Integer, LabelEncoder, Member};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::builder::floats;
use crate::error::to_python;
use crate::missing::Missing;

/// The members in the columns of a table that has `__arrow_c_stream__`.
pub(crate) fn members(
    table: &Bound<'_, PyAny>,
    missing: &Missing,
    run: &Run,
) -> PyResult<Vec<Member>> {
    let (batches, schema) = Table::from_pyarrow_bound(table)?.into_inner();
    let column = |(j, field): (usize, &std::sync::Arc<arrow_schema::Field>)| {
        let chunks: Vec<ArrayRef> = batches.iter().map(|batch| batch.column(j).clone()).collect();
        let read = || member(field.name(), field.data_type(), &chunks, missing);
        table.py().detach(|| run.install(read))
    };
    let members = schema.fields().iter().enumerate().map(column);
    members.map(|member| member.map(Member::from)).collect()
}

/// The members in the columns of a batch that is a part of a table.
///
/// Whether −1 is a label among texts is a matter of the whole table and is not decided here.
pub(crate) fn members_of_batch(
    batch: &RecordBatch,
    names: &[String],
    missing: &Missing,
) -> PyResult<Vec<HardMember>> {
    let texts = missing.of_texts();
    let column = |(name, array): (&String, &ArrayRef)| {
        let kind = array.data_type();
        let text = matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let missing = if text { &texts } else { missing };
        member(name, kind, std::slice::from_ref(array), missing)
    };
    names.iter().zip(batch.columns()).map(column).collect()
}

fn member(
    name: &str,
    kind: &DataType,
    chunks: &[ArrayRef],
    missing: &Missing,
) -> PyResult<HardMember> {
    Ok(match kind {
        DataType::Int8 => integers::<Int8Type>(name, chunks, missing),
        DataType::Int16 => integers::<Int16Type>(name, chunks, missing),
        DataType::Int32 => integers::<Int32Type>(name, chunks, missing),
        DataType::Int64 => integers::<Int64Type>(name, chunks, missing),
        DataType::UInt8 => integers::<UInt8Type>(name, chunks, missing),
        DataType::UInt16 => integers::<UInt16Type>(name, chunks, missing),
        DataType::UInt32 => integers::<UInt32Type>(name, chunks, missing),
        DataType::UInt64 => integers::<UInt64Type>(name, chunks, missing),
        DataType::Float32 => return as_floats::<Float32Type>(name, chunks, missing),
        DataType::Float64 => return as_floats::<Float64Type>(name, chunks, missing),
        _ => {
            let mut encoder = LabelEncoder::new();
            for chunk in chunks {
                push(name, chunk, &mut encoder, missing)?;
            }
            missing.finish(encoder, name)
        }
    })
}

/// A member from integers; those of a single chunk are read where they stand.
fn integers<T>(name: &str, chunks: &[ArrayRef], missing: &Missing) -> HardMember
where
    T: ArrowPrimitiveType,
    T::Native: Integer + TryFrom<i128>,
{
    let tokens: Vec<T::Native> = missing.of_type();
    if let [chunk] = chunks {
        let array = chunk.as_primitive::<T>();
        if array.null_count() == 0 {
            return HardMember::from_integers_but(name, array.values(), &tokens);
        }
        let gone = |i: usize, label| array.is_null(i) || tokens.contains(&label);
        return HardMember::from_integer_slice(name, array.values(), gone);
    }
    let arrays = || chunks.iter().map(AsArray::as_primitive::<T>);
    let values: Vec<T::Native> = arrays().flat_map(|a| a.values().iter().copied()).collect();
    let null: Vec<bool> = arrays().flat_map(|a| (0..a.len()).map(|i| a.is_null(i))).collect();
    let gone = |i: usize, label| null[i] || tokens.contains(&label);
    HardMember::from_integer_slice(name, &values, gone)
}

fn as_floats<T>(name: &str, chunks: &[ArrayRef], missing: &Missing) -> PyResult<HardMember>
where
    T: ArrowPrimitiveType,
    T::Native: Into<f64>,
{
    let values = chunks.iter().flat_map(|chunk| chunk.as_primitive::<T>().iter());
    let values: Vec<f64> = values.map(|x| x.map_or(f64::NAN, Into::into)).collect();
    floats(name, &values, missing).map_err(to_python)
}

/// Appends the labels of a chunk that holds no plain integers.
fn push(
    name: &str,
    chunk: &ArrayRef,
    encoder: &mut LabelEncoder,
    missing: &Missing,
) -> PyResult<()> {
    match chunk.data_type() {
        DataType::Utf8 => texts(chunk.as_string::<i32>(), encoder, missing),
        DataType::LargeUtf8 => texts(chunk.as_string::<i64>(), encoder, missing),
        DataType::Utf8View => texts(chunk.as_string_view(), encoder, missing),
        DataType::Boolean => {
            for label in chunk.as_boolean() {
                match label {
                    Some(label) => missing.push_integer(encoder, i64::from(label)),
                    None => encoder.push_missing(),
                }
            }
        }
        DataType::Null => (0..chunk.len()).for_each(|_| encoder.push_missing()),
        DataType::Dictionary(_, _) => return categories(name, chunk, encoder, missing),
        kind => return Err(not_labels(name, kind)),
    }
    Ok(())
}

fn texts<'a>(
    array: impl ArrayAccessor<Item = &'a str>,
    encoder: &mut LabelEncoder,
    missing: &Missing,
) {
    for i in 0..array.len() {
        if array.is_null(i) {
            encoder.push_missing();
        } else {
            missing.push_text(encoder, array.value(i));
        }
    }
}

/// Appends the labels of a dictionary chunk: keys into a list of values.
fn categories(
    name: &str,
    chunk: &ArrayRef,
    encoder: &mut LabelEncoder,
    missing: &Missing,
) -> PyResult<()> {
    let dictionary = chunk.as_any_dictionary();
    if dictionary.values().data_type().is_nested() {
        return Err(not_labels(name, chunk.data_type()));
    }
    let values = dictionary.values();
    let names = member(name, values.data_type(), std::slice::from_ref(values), missing)?;
    let names: Vec<Option<&str>> = names
        .labels()
        .iter()
        .map(|code| code.map(|code| names.clusters()[code].as_str()))
        .collect();
    if names.is_empty() {
        (0..chunk.len()).for_each(|_| encoder.push_missing());
        return Ok(());
    }
    for (i, key) in dictionary.normalized_keys().into_iter().enumerate() {
        match names[key] {
            Some(text) if !dictionary.keys().is_null(i) => encoder.push_text(text),
            _ => encoder.push_missing(),
        }
    }
    Ok(())
}

fn not_labels(name: &str, kind: &impl Display) -> PyErr {
    PyTypeError::new_err(format!(
        "labels: column `{name}` holds {kind}: labels are texts or integers"
    ))
}
