//! The data sets inside the library.

use consilience::data::data_set;
use extendr_api::prelude::*;

use crate::job::{Telling, start};
use crate::told::{list, matrix, places};

/// A data set: features, classes, names of both.
#[extendr]
fn example_data(args: List) -> Robj {
    start(&args, |given| {
        let info = data_set(&given.text("name")?)?;
        Ok(move |run: &consilience::Run| {
            let set = (info.make)(run);
            Ok(Box::new(move || {
                list([
                    ("features", matrix(&set.features)),
                    ("classes", places(set.truth.iter().map(|&class| Some(class as usize)))),
                    ("feature_names", set.feature_names.into()),
                    ("class_names", set.class_names.into()),
                ])
            }) as Telling)
        })
    })
}

extendr_module! {
    mod data;
    fn example_data;
}
