//! The verdict: what an [`Overview`] means, in plain sentences with numbers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::judge::confidence::is_whole;
use crate::judge::number::{Clarity, Number};
use crate::judge::overview::Overview;
use crate::words::{count, counted, listed, percent};

/// The share of safe objects from which on a consensus is sound, and below which it is weak.
const SOUND: f64 = 0.9;
const WEAK: f64 = 0.7;
/// Agreements closer than this are as good as equal.
const CLOSE: f64 = 0.02;
/// The mean confidence from which on a consensus is sound, and below which it is weak.
const LIKELY: f64 = 0.85;
const DOUBTED: f64 = 0.6;
/// A border is worth a sentence if its doubtful objects are this share of its two clusters.
const DOUBTFUL: f64 = 0.02;
/// A cluster with less than this share of the objects is a crumb.
const CRUMB: f64 = 0.01;
/// Undecided pairs, as a share of all, that are worth a clause.
const UNDECIDED: f64 = 0.25;
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
    /// The number of clusters that was asked for, if it was.
    pub(super) asked: Option<usize>,
    /// What the features say of the number, if there were any.
    pub(super) number: Option<&'a Number>,
}

/// The verdict on a consensus: a headline, then a sentence for every check.
pub(super) fn verdict(overview: &Overview, about: &Circumstances<'_>) -> Vec<Sentence> {
    let number = Said::new(overview, about);
    let mut checks = vec![number.sentence(overview, about)];
    checks.extend(information(overview));
    let informed = carries_information(overview);
    // Without information, whatever else is said of the clusters would be said of chance.
    let told = informed != Some(false);
    if told && overview.clusters.len() < 2 {
        checks.push(nothing_apart());
    } else if told {
        checks.extend(quality(overview));
        checks.extend(sizes(overview, about));
        checks.push(safety(overview));
        checks.push(confidence(overview, number.clarity));
        checks.push(border(overview, about));
        checks.extend(dissent(overview, about));
    }
    checks.extend(silence(overview));
    checks.extend(camps(overview).filter(|_| told));
    let headline = number.headline(overview, about, informed);
    std::iter::once(headline).chain(checks).collect()
}

/// What is known of the number of clusters, from features or from members.
struct Said {
    /// The number that is recommended.
    k: usize,
    clarity: Clarity,
    /// Other numbers that are possible, the likeliest first.
    others: Vec<usize>,
    /// Numbers of larger groups that the clusters lie in.
    levels: Vec<usize>,
    /// Whether several tests of the clusterings all say this number.
    tests_agree: bool,
    /// Who says so.
    who: &'static str,
}

impl Said {
    fn new(overview: &Overview, about: &Circumstances<'_>) -> Self {
        if let Some(number) = about.number {
            let (k, clarity) = (number.k, number.clarity);
            let mut others = number.plausible();
            // Where no number is clear, a smaller one competes instead.
            let levels = match clarity {
                Clarity::Clear => number.levels.clone(),
                _ => Vec::new(),
            };
            others.retain(|other| *other != k && !levels.contains(other));
            return Said { k, clarity, others, levels, tests_agree: false, who: "the data" };
        }
        let criteria = &overview.criteria;
        let (k, clarity) = (criteria.recommended, criteria.clarity);
        let tests = || criteria.rules.iter().filter(|rule| rule.decides);
        Said {
            k,
            clarity,
            others: criteria.runner_up.into_iter().collect(),
            levels: Vec::new(),
            tests_agree: tests().count() > 1 && tests().all(|test| test.k == k),
            who: "the clusterings",
        }
    }

    /// One sentence that a person can repeat.
    fn headline(
        &self,
        overview: &Overview,
        about: &Circumstances<'_>,
        informed: Option<bool>,
    ) -> Sentence {
        let (k, who) = (overview.clusters.len(), self.who);
        let mut start = counted(k, "cluster");
        if let Some(asked) = about.asked.filter(|&asked| asked != k) {
            start = format!("{asked} asked for, {k} found");
        }
        let possible = match self.others[..] {
            [] => String::new(),
            [one] => format!("; {one} is possible"),
            [one, two, ..] => format!("; {one} and {two} are possible"),
        };
        let (tone, text) = if informed == Some(false) {
            (Tone::Weak, format!("{start}: the clusterings carry no information"))
        } else if self.clarity == Clarity::None && k == 1 {
            (Tone::Caution, "No clear clusters".to_owned())
        } else if self.clarity == Clarity::None {
            (Tone::Weak, format!("{start}, but {who} show no clear clusters"))
        } else if about.asked.is_some_and(|asked| asked != k) {
            (Tone::Caution, start)
        } else if self.clarity == Clarity::Clear && self.k == k {
            let text = if about.asked.is_some() {
                format!("{start}, and {who} speak for that number")
            } else {
                let within = match self.levels[..] {
                    [] => String::new(),
                    [.., last] => format!(" in {last} larger groups"),
                };
                format!("Probably {start}{within}{possible}")
            };
            (Tone::Good, text)
        } else if self.clarity == Clarity::Clear {
            let origin = if about.asked.is_some() { "asked for" } else { "found" };
            (Tone::Caution, format!("{start} {origin}; {who} speak for {}", self.k))
        } else if self.tests_agree && self.k == k {
            let asked = if about.asked.is_some() { ", as asked for" } else { "" };
            let tell = "whether there are clusters at all, clusterings alone do not tell";
            (Tone::Caution, format!("{start}{asked}: all tests agree, but {tell}"))
        } else if let (Some(_), true) = (about.asked, self.tests_agree) {
            (Tone::Caution, format!("{start} as asked for; all tests suggest {}", self.k))
        } else if about.asked.is_some() {
            (Tone::Caution, format!("{start} as asked for; {who} give no clear number"))
        } else {
            (Tone::Caution, format!("No clear number of clusters; {k} used{possible}"))
        };
        Sentence { about: "Verdict".into(), tone, text: format!("{text}.") }
    }

    /// What the number rests on.
    fn sentence(&self, overview: &Overview, about: &Circumstances<'_>) -> Sentence {
        let k = overview.clusters.len();
        let why = match about.number {
            Some(number) => number.reason(),
            None => overview.criteria.reason.clone(),
        };
        let met = match about.asked {
            Some(asked) if asked == k => format!("{}, as asked for", counted(k, "cluster")),
            Some(asked) => format!("{} instead of the {asked} asked for", counted(k, "cluster")),
            None => format!("{} found", counted(k, "cluster")),
        };
        let met = match self.clarity {
            Clarity::Clear if self.k != k => format!("{met}; {} speak for {}", self.who, self.k),
            _ => met,
        };
        let tone = match (self.clarity, self.k == k) {
            (Clarity::Clear, true) if about.asked.is_none_or(|asked| asked == k) => Tone::Good,
            (Clarity::None, _) if k > 1 => Tone::Weak,
            _ => Tone::Caution,
        };
        let levels = match self.levels[..] {
            _ if self.k != k => String::new(),
            [] => String::new(),
            [one] => format!(" They lie in {one} larger groups, further apart still."),
            [.., one, two] => format!(
                " They lie in {two} larger groups, and these in {one}, each further apart than within."
            ),
        };
        let text = format!("{met}: {why}.{levels}");
        Sentence { about: "Number of clusters".into(), tone, text }
    }
}

/// Whether members agree more than shuffled labels do; `None` where that cannot be told.
fn carries_information(overview: &Overview) -> Option<bool> {
    let evidence = &overview.criteria.evidence;
    evidence.permuted.last().map(|most| evidence.agreement > *most)
}

fn information(overview: &Overview) -> Option<Sentence> {
    let evidence = &overview.criteria.evidence;
    let most = evidence.permuted.last()?;
    let (tone, text) = if carries_information(overview)? {
        (
            Tone::Good,
            format!(
                "The clusterings have something in common: they agree by {:.2} on average, with \
                 shuffled labels by {most:.2} at most (NMI).",
                evidence.agreement
            ),
        )
    } else {
        (
            Tone::Weak,
            format!(
                "The clusterings agree no more than shuffled labels do ({:.2}, NMI): do not use this \
                 result.",
                evidence.agreement
            ),
        )
    };
    Some(Sentence { about: "Information".into(), tone, text })
}

/// A consensus that agrees less with the members than they do with each other lost what they know.
fn quality(overview: &Overview) -> Option<Sentence> {
    let members = &overview.members;
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let known: Vec<f64> = values.filter(|x| !x.is_nan()).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let r = members.consensus.len();
    let pairs = (0..r).flat_map(|g| (0..g).map(move |h| (g, h)));
    let mutual = mean(&mut pairs.map(|pair| members.pairs[pair]))?;
    let ours = mean(&mut members.consensus.iter().copied())?;
    let (tone, says) = if ours >= mutual - CLOSE {
        (Tone::Good, "stands for its clusterings")
    } else {
        (Tone::Caution, "tells less than its clusterings, or is much coarser than they are")
    };
    let text = format!(
        "The consensus {says}: it agrees with them by {ours:.2} on average, they with each other by \
         {mutual:.2} (NMI)."
    );
    Some(Sentence { about: "Quality".into(), tone, text })
}

/// Clusters that are crumbs, or one that is nearly everything.
fn sizes(overview: &Overview, about: &Circumstances<'_>) -> Option<Sentence> {
    let all = overview.assigned.max(1) as f64;
    let crumbs: Vec<&String> = (overview.clusters.iter().zip(about.clusters))
        .filter(|(cluster, _)| (cluster.objects as f64) < CRUMB * all)
        .map(|(_, name)| name)
        .collect();
    let text = match crumbs[..] {
        [] => return None,
        [one] => format!("Cluster {one} is a crumb: it has"),
        _ => format!("Clusters {} are crumbs: each has", listed(&crumbs, NAMED)),
    };
    let text = format!("{text} less than {} of the objects.", percent(CRUMB));
    Some(Sentence { about: "Sizes".into(), tone: Tone::Caution, text })
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
    if overview.criteria.undecided >= UNDECIDED {
        text = format!(
            "{text} Still, {} of the pairs of objects are undecided: some clusterings put them together, \
             others apart.",
            percent(overview.criteria.undecided)
        );
    }
    let tone = match share {
        s if s >= SOUND => Tone::Good,
        s if s >= WEAK => Tone::Caution,
        _ => Tone::Weak,
    };
    Sentence { about: "Safe objects".into(), tone, text }
}

/// How many objects are to be expected with their like.
fn confidence(overview: &Overview, clarity: Clarity) -> Sentence {
    let mean = overview.confidence();
    let caution = match clarity {
        Clarity::Clear => "one table may differ",
        Clarity::Unclear => {
            "one table may differ, the more so as the number of clusters is not clear"
        }
        Clarity::None => "without clear clusters it means little",
    };
    let text = format!(
        "The mean confidence is {}. Over many tables whose classes are known, that share of the objects \
         was of the most frequent class of their cluster; {caution}.",
        percent(mean)
    );
    let tone = match mean {
        // Without clusters there is no kind to be of.
        c if c >= LIKELY && clarity != Clarity::None => Tone::Good,
        c if c >= DOUBTED => Tone::Caution,
        _ => Tone::Weak,
    };
    Sentence { about: "Confidence".into(), tone, text }
}

/// With a capital at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Labels that are missing, if any are.
fn silence(overview: &Overview) -> Option<Sentence> {
    if is_whole(overview.coverage) {
        return None;
    }
    let mut text =
        format!("{} of the labels are missing.", capital(&percent(1.0 - overview.coverage)));
    let mut tone = Tone::Good;
    if overview.left_out > 0 {
        tone = Tone::Caution;
        text = format!(
            "{text} {} {} no label from more than half of the clusterings, and {} less sure for it.",
            counted(overview.left_out, "object"),
            if overview.left_out == 1 { "has" } else { "have" },
            if overview.left_out == 1 { "is" } else { "are" },
        );
    }
    Some(Sentence { about: "Missing labels".into(), tone, text })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::criteria::KRule;
    use crate::judge::overview::tests::doubtful;

    fn names(prefix: &str, n: usize) -> Vec<String> {
        (0..n).map(|i| format!("{prefix}{i}")).collect()
    }

    fn said(overview: &Overview, asked: Option<usize>, number: Option<&Number>) -> Vec<Sentence> {
        let (clusters, members) = (names("", overview.clusters.len()), names("m", 6));
        verdict(overview, &Circumstances { clusters: &clusters, members: &members, asked, number })
    }

    fn about<'a>(said: &'a [Sentence], about: &str) -> &'a Sentence {
        said.iter().find(|sentence| sentence.about == about).expect("said")
    }

    /// Evidence for `k` clusters.
    fn number(k: usize, clarity: Clarity) -> Number {
        Number {
            k,
            clarity,
            depth: 2.0,
            agreed: 3.0,
            evidence: vec![],
            levels: vec![],
            sampled: None,
        }
    }

    #[test]
    fn larger_groups_are_told() {
        let overview = doubtful();
        let k = overview.clusters.len();
        let nested = Number { levels: vec![2, 3, 4], ..number(k, Clarity::Clear) };
        let told = said(&overview, None, Some(&nested));
        assert_eq!(told[0].text, format!("Probably {k} clusters in 4 larger groups."));
        let why = &about(&told, "Number of clusters").text;
        assert!(why.contains("They lie in 4 larger groups, and these in 3"), "{why}");
        let unclear = Number { clarity: Clarity::Unclear, ..nested.clone() };
        assert!(!said(&overview, None, Some(&unclear))[0].text.contains("larger"));
        let others = Number { k: 5, ..nested };
        assert!(
            !about(&said(&overview, None, Some(&others)), "Number of clusters")
                .text
                .contains("larger")
        );
    }

    #[test]
    fn sentences_by_hand() {
        let mut overview = doubtful();
        overview.members.camps.truncate(1);
        let said = said(&overview, Some(2), None);
        assert!(about(&said, "Number of clusters").text.starts_with("2 clusters, as asked for: "));
        let safe = about(&said, "Safe objects");
        assert!(
            safe.text.starts_with(
                "8 of 10 objects (80 %) are safe: the clusterings support their cluster at least \
                 twice as much as any other."
            ),
            "{}",
            safe.text
        );
        let border = about(&said, "Borders");
        assert_eq!(
            border.text,
            "The border between clusters 0 and 1 is doubtful: 2 objects there (20 % of the two) \
             could belong to either."
        );
        let dissent = about(&said, "Dissent");
        assert!(dissent.text.starts_with("No clustering stands out as dissenting"));
        let camps = about(&said, "Camps");
        assert_eq!(camps.text, "One consensus is enough: the clusterings do not fall into camps.");
        let tones = [safe, border, dissent, camps].map(|sentence| sentence.tone);
        assert_eq!(tones, [Tone::Caution, Tone::Caution, Tone::Good, Tone::Good]);
    }

    #[test]
    fn headlines_say_what_the_evidence_allows() {
        let overview = doubtful();
        let headline = |asked: Option<usize>, k, clarity| {
            let first = said(&overview, asked, Some(&number(k, clarity))).swap_remove(0);
            (first.tone, first.text)
        };
        let expected = |tone, text: &str| (tone, text.to_owned());
        assert_eq!(headline(None, 2, Clarity::Clear), expected(Tone::Good, "Probably 2 clusters."));
        assert_eq!(
            headline(None, 2, Clarity::Unclear),
            expected(Tone::Caution, "No clear number of clusters; 2 used.")
        );
        assert_eq!(
            headline(Some(2), 5, Clarity::Clear),
            expected(Tone::Caution, "2 clusters asked for; the data speak for 5.")
        );
        assert_eq!(
            headline(Some(2), 2, Clarity::Clear),
            expected(Tone::Good, "2 clusters, and the data speak for that number.")
        );
        assert_eq!(
            headline(Some(2), 1, Clarity::None),
            expected(Tone::Weak, "2 clusters, but the data show no clear clusters.")
        );
        assert_eq!(headline(Some(10), 2, Clarity::Clear).1, "10 asked for, 2 found.");
    }

    #[test]
    fn silence_and_confidence_are_told() {
        let mut overview = doubtful();
        assert!(said(&overview, None, None).iter().all(|one| one.about != "Missing labels"));
        assert_eq!(about(&said(&overview, None, None), "Confidence").tone, Tone::Good);
        (overview.coverage, overview.left_out) = (0.8, 3);
        overview.clusters.iter_mut().for_each(|cluster| cluster.confidence = 0.5);
        let said = said(&overview, None, None);
        let missing = about(&said, "Missing labels");
        assert!(
            missing.text.starts_with("20 % of the labels are missing. 3 objects have no label")
        );
        assert_eq!((missing.tone, about(&said, "Confidence").tone), (Tone::Caution, Tone::Weak));
    }

    #[test]
    fn nothing_in_common_is_said_first() {
        let mut overview = doubtful();
        overview.criteria.evidence.agreement = 0.01;
        overview.criteria.evidence.permuted = vec![0.01, 0.02];
        let said = said(&overview, Some(10), None);
        assert_eq!(said[0].text, "10 asked for, 2 found: the clusterings carry no information.");
        assert_eq!((said[0].tone, about(&said, "Information").tone), (Tone::Weak, Tone::Weak));
        let abouts: Vec<&str> = said.iter().map(|sentence| &*sentence.about).collect();
        assert_eq!(abouts, ["Verdict", "Number of clusters", "Information"]);
    }

    #[test]
    fn tests_that_agree_on_another_number_are_named() {
        let mut overview = doubtful();
        let rule = |name: &'static str| KRule { rule: name.into(), k: 5, decides: true };
        overview.criteria.rules = vec![rule("a"), rule("b")];
        (overview.criteria.recommended, overview.criteria.clarity) = (5, Clarity::Unclear);
        let said = said(&overview, Some(2), None);
        assert_eq!(said[0].text, "2 clusters as asked for; all tests suggest 5.");
    }

    #[test]
    fn a_consensus_worse_than_its_members_is_told() {
        let mut overview = doubtful();
        overview.members.consensus.fill(0.1);
        overview.members.pairs.as_mut_slice().fill(0.4);
        let said = said(&overview, None, None);
        assert_eq!(about(&said, "Quality").tone, Tone::Caution);
    }

    #[test]
    fn one_cluster_reassures_nobody() {
        let mut overview = doubtful();
        overview.clusters.truncate(1);
        let said = said(&overview, None, Some(&number(1, Clarity::None)));
        assert_eq!((said[0].tone, said[0].text.as_str()), (Tone::Caution, "No clear clusters."));
        assert!(about(&said, "Safe objects").text.starts_with("With one cluster"));
        assert!(said.iter().all(|sentence| !sentence.text.contains("100 %")));
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
        let said = said(&overview, None, None);
        let dissent = about(&said, "Dissent");
        assert!(dissent.text.starts_with("2 of 6 clusterings dissent: m4 (0."), "{}", dissent.text);
        assert_eq!(
            about(&said, "Camps").text,
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
