//! What R is told: plain vectors, matrices and lists.

use consilience::Matrix;
use extendr_api::prelude::*;
use serde_json::Value;

/// A list with names.
pub(crate) fn list<const N: usize>(pairs: [(&str, Robj); N]) -> Robj {
    List::from_pairs(pairs).into()
}

/// A matrix, which R stores by columns.
pub(crate) fn matrix(matrix: &Matrix) -> Robj {
    RMatrix::new_matrix(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)]).into()
}

/// Something, or `NULL`.
pub(crate) fn or_null<T>(value: Option<T>, told: impl FnOnce(T) -> Robj) -> Robj {
    value.map_or_else(|| Robj::from(()), told)
}

/// Places as R counts them, from 1, with `NA` for none.
pub(crate) fn places(places: impl Iterator<Item = Option<usize>>) -> Robj {
    let number = |place: Option<usize>| place.map_or(Rint::na(), |i| Rint::from(i as i32 + 1));
    places.map(number).collect::<Integers>().into()
}

/// What a piece of JSON says: lists of numbers, texts or truth values are vectors, others lists.
pub(crate) fn json(value: &Value) -> Robj {
    match value {
        Value::Null => Robj::from(()),
        Value::Bool(b) => Robj::from(*b),
        Value::Number(x) => Robj::from(x.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => Robj::from(text.as_str()),
        Value::Array(items) => array(items),
        Value::Object(map) => {
            let names: Vec<&str> = map.keys().map(String::as_str).collect();
            let values: Vec<Robj> = map.values().map(json).collect();
            let list = List::from_names_and_values(names, values);
            list.map_or_else(|_| Robj::from(()), Robj::from)
        }
    }
}

fn array(items: &[Value]) -> Robj {
    if items.iter().all(|item| item.is_number() || item.is_null()) {
        let number = |item: &Value| item.as_f64().map_or(Rfloat::na(), Rfloat::from);
        return items.iter().map(number).collect::<Doubles>().into();
    }
    if items.iter().all(Value::is_string) {
        return items.iter().filter_map(Value::as_str).collect::<Vec<_>>().into();
    }
    List::from_values(items.iter().map(json)).into()
}
