//! Fitted members as R holds them, so that they can be saved and loaded as any R object.

use std::sync::Arc;

use consilience::base::{Covariance, GmmModel, Representatives, USpecEmbedding};
use consilience::generate::{Features, Fitted, KnownRows, Model};
use consilience::{Matrix, Run};
use extendr_api::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::given::{Given, place};
use crate::told::{list, matrix, or_null, places};

/// What R holds of models: each by itself, and the rows that several share, once.
pub(crate) fn told(models: &[Model]) -> Robj {
    let mut shared: Vec<Arc<KnownRows>> = Vec::new();
    let each: Vec<Robj> = models.iter().map(|model| told_one(model, &mut shared)).collect();
    let shared: Vec<Robj> = shared.iter().map(|rows| matrix(rows.rows())).collect();
    list([("models", List::from_values(each).into()), ("rows", List::from_values(shared).into())])
}

fn told_one(model: &Model, shared: &mut Vec<Arc<KnownRows>>) -> Robj {
    let (columns, projection) = match &model.features {
        Features::All => (().into(), ().into()),
        Features::Subset(columns) => (places(columns.iter().map(|&j| Some(j))), ().into()),
        Features::Projection(directions) => (().into(), matrix(directions)),
    };
    let fitted = match &model.fitted {
        Fitted::Centres { centres, fuzzifier } => list([
            ("kind", "centres".into()),
            ("centres", matrix(centres)),
            ("fuzzifier", (*fuzzifier).into()),
        ]),
        Fitted::Embedded { embedding, centres, fuzzifier } => {
            let chosen = embedding.representatives();
            list([
                ("kind", "embedded".into()),
                ("centres", matrix(centres)),
                ("fuzzifier", (*fuzzifier).into()),
                ("rows", matrix(chosen.rows())),
                ("groups", matrix(chosen.centres())),
                ("neighbours", (chosen.neighbours() as f64).into()),
                ("sigma", or_null(embedding.sigma(), Robj::from)),
                ("coordinates", matrix(embedding.coordinates())),
            ])
        }
        Fitted::Mixture(mixture) => list([
            ("kind", "mixture".into()),
            ("covariance", format!("{:?}", mixture.covariance()).into()),
            ("means", matrix(mixture.means())),
            ("weights", mixture.weights().into()),
            ("factors", mixture.factors().into()),
        ]),
        Fitted::Nearest { rows, labels } => {
            let at = shared.iter().position(|known| Arc::ptr_eq(known, rows));
            let at = at.unwrap_or_else(|| {
                shared.push(rows.clone());
                shared.len() - 1
            });
            let label = |&label: &u32| {
                (label != consilience::generate::NO_CLUSTER).then_some(label as usize)
            };
            list([
                ("kind", "nearest".into()),
                ("rows", (at as f64).into()),
                ("labels", places(labels.iter().map(label))),
            ])
        }
    };
    list([
        ("columns", columns),
        ("projection", projection),
        ("features", (model.n_features as f64).into()),
        ("fitted", fitted),
    ])
}

/// The models that R holds.
pub(crate) fn models(given: &Given) -> Outcome<Vec<Model>> {
    let held = given.list("models")?;
    let run = Run::new(0);
    let known = |rows: Matrix| Ok(Arc::new(KnownRows::new(rows, &run)?));
    let rows = held.matrices("rows")?.into_iter().map(known).collect::<Outcome<Vec<_>>>()?;
    held.lists("models")?.iter().map(|one| model(one, &rows, &run)).collect()
}

fn model(given: &Given, rows: &[Arc<KnownRows>], run: &Run) -> Outcome<Model> {
    let n_features = given.whole("features")? as usize;
    let (features, width) = if given.some("columns").is_some() {
        let column = |&j: &i32| place(j).filter(|j| *j < n_features);
        let columns: Option<Vec<usize>> = given.integers("columns")?.iter().map(column).collect();
        let columns = columns.ok_or_else(|| damaged("a feature beyond the last"))?;
        let width = columns.len();
        (Features::Subset(columns), width)
    } else if let Some(directions) = given.some_matrix("projection")? {
        if directions.nrows() != n_features {
            return Err(damaged("a projection of other features"));
        }
        let width = directions.ncols();
        (Features::Projection(directions), width)
    } else {
        (Features::All, n_features)
    };
    let fitted = fitted(&given.list("fitted")?, width, rows, run)?;
    Ok(Model { features, fitted, n_features })
}

/// What labels rows of `width` columns.
fn fitted(given: &Given, width: usize, rows: &[Arc<KnownRows>], run: &Run) -> Outcome<Fitted> {
    let fits = |name: &str, width: usize| {
        let centres = given.matrix(name)?;
        if centres.ncols() != width || centres.nrows() == 0 {
            return Err(damaged("centres that do not fit to the features"));
        }
        Ok(centres)
    };
    Ok(match given.text("kind")?.as_str() {
        "centres" => {
            Fitted::Centres { centres: fits("centres", width)?, fuzzifier: fuzzifier(given)? }
        }
        "embedded" => {
            let (chosen, coordinates) = (fits("rows", width)?, given.matrix("coordinates")?);
            if chosen.nrows() != coordinates.nrows() || coordinates.ncols() == 0 {
                return Err(damaged("representatives without coordinates"));
            }
            let neighbours = given.whole("neighbours")? as usize;
            let chosen = Representatives::new(chosen, &given.matrix("groups")?, neighbours, run)?;
            let sigma = given.some_numbers("sigma")?.and_then(|sigma| sigma.first().copied());
            let embedding = USpecEmbedding::new(chosen, sigma, coordinates);
            let centres = fits("centres", embedding.width())?;
            Fitted::Embedded { embedding, centres, fuzzifier: fuzzifier(given)? }
        }
        "mixture" => {
            let kinds = [Covariance::Full, Covariance::Tied, Covariance::Diagonal];
            let name = given.text("covariance")?;
            let kind = kinds.into_iter().find(|known| format!("{known:?}") == name);
            let kind = kind.ok_or_else(|| damaged("an unknown kind of covariance"))?;
            let (weights, factors) = (given.numbers("weights")?, given.numbers("factors")?);
            let mixture = GmmModel::from_factors(kind, fits("means", width)?, weights, factors)?;
            Fitted::Mixture(mixture)
        }
        "nearest" => {
            let rows = rows.get(given.whole("rows")? as usize);
            let rows = rows.filter(|rows| rows.rows().ncols() == width).cloned();
            let rows = rows.ok_or_else(|| damaged("rows that do not fit to the features"))?;
            let labels = given.integers("labels")?.iter();
            let label = |&j: &i32| place(j).map_or(consilience::generate::NO_CLUSTER, |j| j as u32);
            let labels: Vec<u32> = labels.map(label).collect();
            if labels.len() != rows.rows().nrows() {
                return Err(damaged("rows without clusters"));
            }
            Fitted::Nearest { rows, labels }
        }
        other => return Err(damaged(other)),
    })
}

fn fuzzifier(given: &Given) -> Outcome<f64> {
    given.numbers("fuzzifier")?.first().copied().ok_or_else(|| damaged("no fuzzifier"))
}

/// A model that was changed since it was made.
fn damaged(what: &str) -> Failure {
    Failure::argument(format!("the stored models cannot be used: {what}"))
}
