//! The verdict: what an [`Overview`] means, in plain sentences with numbers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::judge::overview::Overview;
use crate::words::{count, counted};

/// The share of safe objects from which on a consensus is sound, and below which it is weak.
const SOUND: f64 = 0.9;
const WEAK: f64 = 0.7;
/// A border is worth a sentence if its doubtful objects are this share of its two clusters.
const DOUBTFUL: f64 = 0.02;
/// Dissenters and borders that are named.
const NAMED: usize = 3;

/// How to take a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// All is well.
    Good,
    /// Look closer.
    Caution,
    /// Do not rely on it without looking.
    Weak,
}

/// One sentence of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// What it is about, in a word or two.
    pub about: Cow<'static, str>,
    /// How to take it.
    pub tone: Tone,
    /// The sentence.
    pub text: String,
}

/// What a verdict needs to know besides the overview.
#[derive(Clone, Debug)]
pub(super) struct Circumstances<'a> {
    /// The name of every cluster.
    pub(super) clusters: &'a [String],
    /// The name of every member.
    pub(super) members: &'a [String],
    /// Whether the number of clusters was asked for, not found.
    pub(super) k_given: bool,
}

/// The verdict on a consensus.
pub(super) fn verdict(overview: &Overview, about: &Circumstances<'_>) -> Vec<Sentence> {
    if overview.clusters.len() < 2 {
        let mut sentences = vec![number(overview, about), nothing_apart()];
        sentences.extend(camps(overview));
        return sentences;
    }
    let mut sentences = vec![number(overview, about), safety(overview), border(overview, about)];
    sentences.extend(dissent(overview, about));
    sentences.extend(camps(overview));
    sentences
}

fn number(overview: &Overview, about: &Circumstances<'_>) -> Sentence {
    let k = overview.clusters.len();
    let criteria = &overview.criteria;
    let origin = if about.k_given { "as asked for" } else { "found from the clusterings" };
    let (tone, says) = match criteria.recommended {
        found if found == k => (Tone::Good, "the clusterings alone say the same".to_owned()),
        1 => (Tone::Weak, "the clusterings alone say that there are none".to_owned()),
        found if criteria.runner_up == Some(k) => {
            (Tone::Caution, format!("the clusterings alone say {found}, with {k} as runner-up"))
        }
        found => (Tone::Weak, format!("the clusterings alone say {found}")),
    };
    let text = format!("{}, {origin}; {says}: {}.", counted(k, "cluster"), criteria.reason);
    Sentence { about: "Number of clusters".into(), tone, text }
}

/// Without a second cluster every object is safe and every member far from the consensus, which says
/// nothing.
fn nothing_apart() -> Sentence {
    let text = "With one cluster there is nothing to compare; ask for two or more to see the best \
                division there is.";
    Sentence { about: "Safe objects".into(), tone: Tone::Caution, text: text.to_owned() }
}

fn safety(overview: &Overview) -> Sentence {
    let share = overview.safe as f64 / overview.n.max(1) as f64;
    let mut text = format!(
        "{} of {} ({}) {} safe: the clusterings support {} cluster at least twice as much as any \
         other.",
        count(overview.safe),
        counted(overview.n, "object"),
        percent(share),
        if overview.safe == 1 { "is" } else { "are" },
        if overview.safe == 1 { "its" } else { "their" },
    );
    let without = overview.n - overview.assigned;
    if without > 0 {
        let has = if without == 1 { "has" } else { "have" };
        text = format!("{text} {} {has} no cluster.", counted(without, "object"));
    }
    let tone = match share {
        s if s >= SOUND => Tone::Good,
        s if s >= WEAK => Tone::Caution,
        _ => Tone::Weak,
    };
    Sentence { about: "Safe objects".into(), tone, text }
}

fn border(overview: &Overview, about: &Circumstances<'_>) -> Sentence {
    let size = |cluster: u32| overview.clusters[cluster as usize].objects;
    let share = |border: &crate::judge::Border| {
        border.objects as f64 / (size(border.a) + size(border.b)).max(1) as f64
    };
    let mut doubtful: Vec<_> =
        overview.borders.iter().filter(|border| share(border) >= DOUBTFUL).collect();
    let Some(worst) = doubtful.first().copied() else {
        let text = "No border between two clusters is doubtful.".to_owned();
        return Sentence { about: "Borders".into(), tone: Tone::Good, text };
    };
    let name = |cluster: u32| &about.clusters[cluster as usize];
    let mut text = format!(
        "The border between clusters {} and {} is doubtful: {} there ({} of the two) could belong \
         to either.",
        name(worst.a),
        name(worst.b),
        counted(worst.objects, "object"),
        percent(share(worst)),
    );
    let others = doubtful.split_off(1);
    if !others.is_empty() {
        let pairs: Vec<String> = others
            .iter()
            .take(NAMED)
            .map(|b| format!("{} and {} ({})", name(b.a), name(b.b), count(b.objects)))
            .collect();
        let more = others.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text = format!("{text} Also: {}{more}.", pairs.join(", "));
    }
    let tone = if share(worst) >= 1.0 - WEAK { Tone::Weak } else { Tone::Caution };
    Sentence { about: "Borders".into(), tone, text }
}

fn dissent(overview: &Overview, about: &Circumstances<'_>) -> Option<Sentence> {
    let members = &overview.members;
    let known: Vec<f64> = members.consensus.iter().copied().filter(|x| !x.is_nan()).collect();
    if known.len() < 2 {
        return None;
    }
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    if members.dissenters.is_empty() {
        let text = format!(
            "No clustering stands out as dissenting; they agree with the consensus by {mean:.2} on \
             average (NMI, 1 is full agreement)."
        );
        let tone = if mean >= 0.5 { Tone::Good } else { Tone::Caution };
        return Some(Sentence { about: "Dissent".into(), tone, text });
    }
    let named: Vec<String> = members
        .dissenters
        .iter()
        .take(NAMED)
        .map(|&h| format!("{} ({:.2})", about.members[h], members.consensus[h]))
        .collect();
    let n = members.dissenters.len();
    let more = if n > NAMED { format!(" and {} more", n - NAMED) } else { String::new() };
    let text = format!(
        "{} of {} clusterings dissent{}: {}{more}; the mean agreement with the consensus is \
         {mean:.2} (NMI).",
        count(n),
        count(members.consensus.len()),
        if n == 1 { "s" } else { "" },
        named.join(", ")
    );
    Some(Sentence { about: "Dissent".into(), tone: Tone::Caution, text })
}

fn camps(overview: &Overview) -> Option<Sentence> {
    let camps = &overview.members.camps;
    // Of fewer than four nothing can be said.
    if overview.members.consensus.len() < 4 {
        return None;
    }
    if camps.len() == 1 {
        let text = "One consensus is enough: the clusterings do not fall into camps.".to_owned();
        return Some(Sentence { about: "Camps".into(), tone: Tone::Good, text });
    }
    let sizes: Vec<String> = camps
        .iter()
        .map(|camp| format!("{} (agreeing by {:.2})", camp.members.len(), camp.agreement))
        .collect();
    let text = format!(
        "One consensus hides something: the clusterings fall into {} camps, of {}; combine each \
         camp by itself.",
        camps.len(),
        sizes.join(" and ")
    );
    Some(Sentence { about: "Camps".into(), tone: Tone::Weak, text })
}

/// Whole percents, but never 0 % of something or 100 % of less than all.
fn percent(share: f64) -> String {
    let whole = 100.0 * share;
    match whole {
        x if x > 0.0 && x < 0.5 => "under 1 %".to_owned(),
        x if (99.5..100.0).contains(&x) => "over 99 %".to_owned(),
        x => format!("{x:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::overview::tests::doubtful;

    fn names(prefix: &str, n: usize) -> Vec<String> {
        (0..n).map(|i| format!("{prefix}{i}")).collect()
    }

    #[test]
    fn sentences_by_hand() {
        let (clusters, members) = (names("", 2), names("m", 6));
        let about = Circumstances { clusters: &clusters, members: &members, k_given: true };
        let mut overview = doubtful();
        overview.members.camps.truncate(1);
        let said = verdict(&overview, &about);
        let texts: Vec<&str> = said.iter().map(|sentence| sentence.text.as_str()).collect();
        assert!(texts[0].starts_with("2 clusters, as asked for; "), "{}", texts[0]);
        assert_eq!(
            texts[1],
            "8 of 10 objects (80 %) are safe: the clusterings support their cluster at least twice \
             as much as any other."
        );
        assert_eq!(
            texts[2],
            "The border between clusters 0 and 1 is doubtful: 2 objects there (20 % of the two) \
             could belong to either."
        );
        assert!(texts[3].starts_with("No clustering stands out as dissenting"), "{}", texts[3]);
        assert_eq!(texts[4], "One consensus is enough: the clusterings do not fall into camps.");
        let tones: Vec<Tone> = said[1..].iter().map(|sentence| sentence.tone).collect();
        assert_eq!(tones, [Tone::Caution, Tone::Caution, Tone::Good, Tone::Good]);
    }

    #[test]
    fn one_cluster_reassures_nobody() {
        let mut overview = doubtful();
        overview.clusters.truncate(1);
        let (clusters, members) = (names("", 1), names("m", 6));
        let about = Circumstances { clusters: &clusters, members: &members, k_given: false };
        let said = verdict(&overview, &about);
        assert!(said[1].text.starts_with("With one cluster"), "{}", said[1].text);
        assert!(said[1..].iter().all(|sentence| !sentence.text.contains("100 %")));
    }

    #[test]
    fn dissenters_are_named_and_camps_are_counted() {
        let mut overview = doubtful();
        overview.members.dissenters = vec![4, 1];
        let camp = |members: &[usize], agreement| crate::judge::Camp {
            members: members.to_vec(),
            agreement,
        };
        overview.members.camps = vec![camp(&[0, 1, 2, 3], 0.875), camp(&[4, 5], 1.0)];
        let (clusters, members) = (names("", 2), names("m", 6));
        let about = Circumstances { clusters: &clusters, members: &members, k_given: false };
        let said = verdict(&overview, &about);
        assert!(said[0].text.starts_with("2 clusters, found from the clusterings; "));
        assert!(said[3].text.starts_with("2 of 6 clusterings dissent: m4 (0."), "{}", said[3].text);
        assert_eq!(
            said[4].text,
            "One consensus hides something: the clusterings fall into 2 camps, of 4 (agreeing by \
             0.88) and 2 (agreeing by 1.00); combine each camp by itself."
        );
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "object"), "1 object");
        assert_eq!(
            [0.0, 0.001, 0.5, 0.999, 1.0].map(percent),
            ["0 %", "under 1 %", "50 %", "over 99 %", "100 %"]
        );
    }
}
