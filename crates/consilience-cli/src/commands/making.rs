//! The options of the ensemble as a recipe, and the recipe in words.

use consilience::base::Scaling;
use consilience::generate::{BaseK, Committee, GenerateParams, Scheme, Seat, Unseen, base, scheme};
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
    let base_k = args.base_k.unwrap_or(BaseK::Auto { consensus: k });
    if let Scheme::Committee(committee) = scheme {
        if args.base.is_some() || args.representatives.or(args.neighbours).is_some() {
            return Err(usage(
                "--base, --representatives and --neighbours go with other schemes: --kinds names the \
                 clusterers of a committee",
            ));
        }
        let committee = match args.kinds.as_slice() {
            [] => committee,
            kinds => Committee::of(kinds.iter().map(String::as_str))?,
        };
        let mut params = GenerateParams::committee(committee, base_k).soft(args.soft);
        if let Some(size) = args.size {
            params = params.size(size);
        }
        return Ok(Recipe { generator: params.check()?, scaling: args.scale().parse()? });
    }
    if !args.kinds.is_empty() {
        return Err(usage(format!(
            "--kinds goes with --scheme committee, not with {}",
            args.scheme()
        )));
    }
    // The number of clusters is set anew for every member.
    let made = (base(args.base())?.make)(1);
    let made = made.representatives(args.representatives, args.neighbours)?;
    let generator =
        GenerateParams::new(scheme, made).k(base_k).size(args.size()).soft(args.soft).check()?;
    Ok(Recipe { generator, scaling: args.scale().parse()? })
}

/// What is told in words of members with so many clusters each, and of the `seats` of a committee; the zeros
/// of a `sparse` table are not shifted.
pub(super) fn summary(
    recipe: &Recipe,
    (low, high): (usize, usize),
    seats: &[Seat],
    sparse: bool,
) -> String {
    let generator = &recipe.generator;
    let k = if low == high {
        format!("{} each", counted(low, "cluster"))
    } else {
        format!("{low} to {high} clusters each")
    };
    let scale = match recipe.scaling {
        Scaling::ZScore if sparse => "features scaled to deviation 1, zeros left (--scale zscore)",
        Scaling::ZScore => "features scaled to mean 0 and deviation 1 (--scale zscore)",
        Scaling::MinMax if sparse => "features scaled to a range of 1, zeros left (--scale minmax)",
        Scaling::MinMax => "features scaled to [0, 1] (--scale minmax)",
        Scaling::None => "features not scaled (--scale none)",
    };
    if !seats.is_empty() {
        return format!("{}\n{scale}", committee(seats, &k));
    }
    format!(
        "{} by {} of {k} ({})\n{scale}",
        counted(generator.size(), "clustering"),
        generator.base(),
        generator.scheme(),
    )
}

/// What a committee made, kind by kind, and what was left out of it.
fn committee(seats: &[Seat], k: &str) -> String {
    let kinds = seats.iter().map(|seat| seat.kind.as_str());
    let mut names: Vec<&str> = Vec::new();
    kinds.for_each(|kind| {
        if !names.contains(&kind) {
            names.push(kind);
        }
    });
    let count = |kind: &str, out: bool| {
        let left_out = |seat: &&Seat| seat.kind == kind && (!out || seat.left_out.is_some());
        seats.iter().filter(left_out).count()
    };
    let list = |out: bool| {
        let words = names.iter().map(|kind| (count(kind, out), kind)).filter(|(n, _)| *n > 0);
        words.map(|(n, kind)| format!("{n} {kind}")).collect::<Vec<_>>().join(", ")
    };
    let made =
        format!("{} by a committee: {}, of {k}", counted(seats.len(), "clustering"), list(false));
    match list(true) {
        none if none.is_empty() => made,
        out => format!("{made}\nleft out, since they cut through more neighbourhoods: {out}"),
    }
}
