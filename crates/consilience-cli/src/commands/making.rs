//! The options of the ensemble as a recipe, and the recipe in words.

use consilience::base::Scaling;
use consilience::generate::{BaseK, GenerateParams, Scheme, Unseen, base, scheme};
use consilience::pipeline::Recipe;

use crate::args::EnsembleArgs;
use crate::errors::usage;
use crate::output::counted;

/// The recipe of these options, checked. `k` is the number of clusters that is wanted of the
/// consensus, if known.
pub(super) fn recipe(args: &EnsembleArgs, k: Option<usize>) -> anyhow::Result<Recipe> {
    let mut scheme = (scheme(args.scheme())?.make)();
    if let Some(share) = args.subspace {
        if !matches!(scheme, Scheme::RandomSubspace { .. } | Scheme::RandomProjection { .. }) {
            return Err(usage(format!(
                "--subspace goes with --scheme random-subspace or random-projection, not with {}",
                args.scheme()
            )));
        }
        scheme = scheme.share(share)?;
    }
    if args.sample.is_some() || args.leave_out {
        if !matches!(scheme, Scheme::Bootstrap { .. } | Scheme::Subsample { .. }) {
            return Err(usage(format!(
                "--sample and --leave-out go with --scheme bootstrap or subsample, not with {}",
                args.scheme()
            )));
        }
        if let Some(share) = args.sample {
            scheme = scheme.share(share)?;
        }
        if args.leave_out {
            scheme = scheme.unseen(Unseen::Missing)?;
        }
    }
    // The number of clusters is set anew for every member.
    let made = (base(args.base())?.make)(1);
    let made = made.representatives(args.representatives, args.neighbours)?;
    let generator = GenerateParams::new(scheme, made)
        .k(args.base_k.unwrap_or(BaseK::Auto { consensus: k }))
        .size(args.size())
        .soft(args.soft)
        .check()?;
    Ok(Recipe { generator, scaling: args.scale().parse()? })
}

/// What is told of members of `n` objects in words; the zeros of a `sparse` table are not shifted.
pub(super) fn summary(recipe: &Recipe, n: usize, sparse: bool) -> String {
    let generator = &recipe.generator;
    let (low, high) = generator.base_k(n);
    let k = if low == high { low.to_string() } else { format!("{low} to {high}") };
    let scale = match recipe.scaling {
        Scaling::ZScore if sparse => "features scaled to deviation 1, zeros left (--scale zscore)",
        Scaling::ZScore => "features scaled to mean 0 and deviation 1 (--scale zscore)",
        Scaling::MinMax if sparse => "features scaled to a range of 1, zeros left (--scale minmax)",
        Scaling::MinMax => "features scaled to [0, 1] (--scale minmax)",
        Scaling::None => "features not scaled (--scale none)",
    };
    format!(
        "{} by {} of {k} clusters each ({})\n{scale}",
        counted(generator.size(), "clustering"),
        generator.base(),
        generator.scheme(),
    )
}
