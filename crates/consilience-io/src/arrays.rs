//! Arrow arrays as labels, numbers and text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::piece::{Coded, IntegerCoder};
use super::table::{MISSING, Names};

/// What cannot be read, by its row in the array.
#[derive(Debug)]
pub(super) enum Flaw {
    /// A label that is a number but not whole.
    Fraction { row: usize, value: f64 },
    /// Text where a number should be.
    NotANumber { row: usize, value: String },
    /// A type that holds neither labels nor numbers nor text.
    Type(DataType),
}

/// Runs `$body` with `$t` bound to the array's type if that is a type of integers.
macro_rules! with_integers {
    ($kind:expr, $t:ident => $body:expr, _ => $other:expr) => {{
        macro_rules! run {
            ($type:ty) => {{
                type $t = $type;
                $body
            }};
        }
        match $kind {
            DataType::Int8 => run!(Int8Type),
            DataType::Int16 => run!(Int16Type),
            DataType::Int32 => run!(Int32Type),
            DataType::Int64 => run!(Int64Type),
            DataType::UInt8 => run!(UInt8Type),
            DataType::UInt16 => run!(UInt16Type),
            DataType::UInt32 => run!(UInt32Type),
            DataType::UInt64 => run!(UInt64Type),
            _ => $other,
        }
    }};
}

/// The values of an array of floating-point numbers, `None` for null.
fn floats(array: &ArrayRef) -> Option<Box<dyn Iterator<Item = Option<f64>> + '_>> {
    Some(match array.data_type() {
        DataType::Float16 => {
            Box::new(array.as_primitive::<Float16Type>().iter().map(|v| v.map(f64::from)))
        }
        DataType::Float32 => {
            Box::new(array.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from)))
        }
        DataType::Float64 => Box::new(array.as_primitive::<Float64Type>().iter()),
        _ => return None,
    })
}

/// Reads an array as labels; null is missing, and so is text for which `is_missing` holds.
pub(super) fn labels(
    array: &ArrayRef,
    is_missing: &dyn Fn(&str) -> bool,
) -> Result<Coded<'static>, Flaw> {
    with_integers!(array.data_type(), T => return Ok(integers::<T>(array)), _ => {});
    if let Some(values) = floats(array) {
        let mut coder = IntegerCoder::with_capacity(array.len());
        for (row, value) in values.enumerate() {
            match value {
                Some(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
                    coder.push(value as i64);
                }
                Some(value) if !value.is_nan() => return Err(Flaw::Fraction { row, value }),
                _ => coder.push_missing(),
            }
        }
        return Ok(coder.finish(|value| value.to_string()));
    }
    if let DataType::Dictionary(_, _) = array.data_type() {
        return dictionary(array, is_missing);
    }
    let mut names = Names::default();
    let mut codes = Vec::with_capacity(array.len());
    texts(array, &mut |_, text| {
        codes.push(text.filter(|text| !is_missing(text)).map_or(MISSING, |text| names.code(text)));
    })?;
    Ok(Coded { names: names.list.into_iter().map(Into::into).collect(), codes })
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef) -> Coded<'static>
where
    T::Native: ToString + Wrapping,
{
    let array = array.as_primitive::<T>();
    let mut coder = IntegerCoder::with_capacity(array.len());
    if array.null_count() == 0 {
        array.values().iter().for_each(|&value| coder.push(value.bits()));
    } else {
        for value in array {
            match value {
                Some(value) => coder.push(value.bits()),
                None => coder.push_missing(),
            }
        }
    }
    coder.finish(|bits| T::Native::from_bits(bits).to_string())
}

/// Integers by their bits, so that the largest unsigned ones fit too.
trait Wrapping: Copy {
    fn bits(self) -> i64;
    fn from_bits(bits: i64) -> Self;
}

macro_rules! impl_wrapping {
    ($($t:ty),*) => {$(
        impl Wrapping for $t {
            fn bits(self) -> i64 {
                self as i64
            }
            fn from_bits(bits: i64) -> Self {
                bits as $t
            }
        }
    )*};
}
impl_wrapping!(i8, i16, i32, i64, u8, u16, u32, u64);

/// Labels that are stored once, with keys to them. Entries that no row uses are no clusters, and
/// the order of the entries is not that of their appearance: both are mended here.
fn dictionary(array: &ArrayRef, is_missing: &dyn Fn(&str) -> bool) -> Result<Coded<'static>, Flaw> {
    const UNSEEN: u32 = MISSING - 1;
    let dictionary = array.as_any_dictionary();
    let mut entries: Vec<Option<String>> = Vec::with_capacity(dictionary.values().len());
    texts(dictionary.values(), &mut |_, text| {
        entries.push(text.filter(|text| !is_missing(text)).map(str::to_owned));
    })?;
    let mut codes_of: Vec<u32> =
        entries.iter().map(|entry| if entry.is_some() { UNSEEN } else { MISSING }).collect();
    let mut names = Names::default();
    let mut codes = Vec::with_capacity(array.len());
    let mut push = |key: Option<usize>| {
        let Some(key) = key else { return codes.push(MISSING) };
        if codes_of[key] == UNSEEN {
            let name = entries[key].as_deref().expect("missing ones have their code");
            codes_of[key] = names.code(name);
        }
        codes.push(codes_of[key]);
    };
    let keys = dictionary.keys();
    with_integers!(keys.data_type(), T => {
        for key in keys.as_primitive::<T>() {
            push(key.map(|key| key.bits() as usize));
        }
    }, _ => return Err(Flaw::Type(array.data_type().clone())));
    Ok(Coded { names: names.list.into_iter().map(Into::into).collect(), codes })
}

/// Writes an array as numbers to `cells`; null becomes NaN.
pub(super) fn numbers<'a>(
    array: &ArrayRef,
    cells: impl Iterator<Item = &'a mut f64>,
) -> Result<(), Flaw> {
    let unknown = f64::NAN;
    if let Some(values) = floats(array) {
        cells.zip(values).for_each(|(cell, value)| *cell = value.unwrap_or(unknown));
        return Ok(());
    }
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean().iter();
            cells.zip(values).for_each(|(cell, value)| {
                *cell = value.map_or(unknown, |value| f64::from(u8::from(value)));
            });
            return Ok(());
        }
        DataType::Null => {
            cells.for_each(|cell| *cell = unknown);
            return Ok(());
        }
        _ => {}
    }
    with_integers!(array.data_type(), T => {
        let values = array.as_primitive::<T>().iter();
        #[allow(clippy::cast_lossless)]
        cells.zip(values).for_each(|(cell, value)| {
            *cell = value.map_or(unknown, |value| value as f64);
        });
        Ok(())
    }, _ => {
        let mut first = None;
        texts(array, &mut |row, text| {
            if let (Some(text), None) = (text, &first) {
                first = Some((row, text.to_owned()));
            }
        })?;
        // A batch of nulls only says nothing yet.
        if let Some((row, value)) = first { Err(Flaw::NotANumber { row, value }) } else {
            cells.for_each(|cell| *cell = unknown);
            Ok(())
        }
    })
}

/// Calls `visit` with the row and the text of every cell, `None` for null.
pub(super) fn texts(
    array: &ArrayRef,
    visit: &mut dyn FnMut(usize, Option<&str>),
) -> Result<(), Flaw> {
    match array.data_type() {
        DataType::Utf8 => {
            array.as_string::<i32>().iter().enumerate().for_each(|(i, t)| visit(i, t));
        }
        DataType::LargeUtf8 => {
            array.as_string::<i64>().iter().enumerate().for_each(|(i, t)| visit(i, t));
        }
        DataType::Utf8View => {
            array.as_string_view().iter().enumerate().for_each(|(i, t)| visit(i, t));
        }
        DataType::Boolean => {
            let text = |value| if value { "true" } else { "false" };
            let values = array.as_boolean().iter().enumerate();
            values.for_each(|(i, value)| visit(i, value.map(text)));
        }
        DataType::Null => (0..array.len()).for_each(|i| visit(i, None)),
        DataType::Dictionary(_, _) => {
            let coded = dictionary(array, &|_| false)?;
            for (i, &code) in coded.codes.iter().enumerate() {
                visit(i, (code != MISSING).then(|| &*coded.names[code as usize]));
            }
        }
        kind => with_integers!(kind, T => {
            for (i, value) in array.as_primitive::<T>().iter().enumerate() {
                visit(i, value.map(|value| value.to_string()).as_deref());
            }
        }, _ => return Err(Flaw::Type(kind.clone()))),
    }
    Ok(())
}
