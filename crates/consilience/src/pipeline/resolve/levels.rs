//! Which member was made at which level.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::words::listed;

/// Where the level stands in a pattern of names.
const LEVEL: &str = "{level}";

/// Members grouped by level: the resolution, the number of neighbours, whatever was varied besides the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The levels: by number if all are numbers, otherwise by text.
    groups: Vec<Group>,
    /// Members that have no level.
    left_out: Vec<usize>,
    /// Whether all levels are numbers.
    numeric: bool,
}

/// The members of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) members: Vec<usize>,
}

impl Levels {
    /// The levels that the names of members tell by a pattern: `leiden_{level}_{seed}` finds level `0.5` in
    /// `leiden_0.5_3`. Another word in braces, or `*`, stands for anything; the level is as short as it can be.
    ///
    /// # Errors
    ///
    /// If the pattern has not one `{level}`, or no name matches.
    ///
    /// ```
    /// use consilience::pipeline::Levels;
    /// let names = ["leiden_0.5_1", "leiden_0.5_2", "leiden_1_1", "batch"].map(str::to_owned);
    /// let levels = Levels::by_pattern("leiden_{level}_{seed}", &names)?;
    /// assert_eq!(levels.names().collect::<Vec<_>>(), ["0.5", "1"]);
    /// assert_eq!(levels.left_out(), [3]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn by_pattern(pattern: &str, names: &[String]) -> Result<Self> {
        let pieces = pieces(pattern)?;
        let of: Vec<Option<&str>> = names.iter().map(|name| level_in(name, &pieces)).collect();
        if of.iter().all(Option::is_none) {
            let some: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            return Err(Error::Empty {
                what: format!("the set of clusterings that match `{pattern}`"),
                hint: format!("their names are {}", listed(&some, 5)),
            });
        }
        Self::of_members(&of)
    }

    /// The levels of all members in turn; `None` leaves one out.
    ///
    /// # Errors
    ///
    /// If no member has a level.
    pub fn of_members(levels: &[Option<impl AsRef<str>>]) -> Result<Self> {
        let texts = levels.iter().map(|level| level.as_ref().map(|level| level.as_ref().trim()));
        let texts: Vec<Option<&str>> = texts.collect();
        if texts.iter().all(Option::is_none) {
            return Err(Error::Empty {
                what: "the list of levels".to_owned(),
                hint: "give the level of every clustering".to_owned(),
            });
        }
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
        let numeric = texts.iter().flatten().all(|text| number(text).is_some());
        // 0.5 and 0.50 are one level, called as the shorter is written.
        let mut groups: BTreeMap<(Ordered, &str), Group> = BTreeMap::new();
        for (member, text) in texts.iter().enumerate() {
            let Some(text) = *text else { continue };
            let key = match number(text).filter(|_| numeric) {
                Some(value) => (Ordered(value + 0.0), ""),
                None => (Ordered(0.0), text),
            };
            let group = groups.entry(key);
            let group =
                group.or_insert_with(|| Group { name: text.to_owned(), members: Vec::new() });
            if (text.len(), text) < (group.name.len(), group.name.as_str()) {
                text.clone_into(&mut group.name);
            }
            group.members.push(member);
        }
        let left_out = (0..texts.len()).filter(|&member| texts[member].is_none()).collect();
        Ok(Levels { groups: groups.into_values().collect(), left_out, numeric })
    }

    /// What the levels are called.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.name.as_str())
    }

    /// How many levels there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The level of a member, if it has one.
    pub fn of(&self, member: usize) -> Option<&str> {
        let group = self.groups.iter().find(|group| group.members.contains(&member));
        group.map(|group| group.name.as_str())
    }

    /// The members that have no level.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// The members of every level, from coarse to fine: `clusters` tells the median number of clusters of some
    /// members. Numbers keep their order, or are turned round if it falls; texts are ordered by it.
    pub(super) fn coarse_first(self, clusters: impl Fn(&[usize]) -> f64) -> Vec<Group> {
        let mut groups = self.groups;
        let of = |group: &Group| clusters(&group.members);
        if !self.numeric {
            groups.sort_by(|a, b| of(a).total_cmp(&of(b)));
        } else if let [first, .., last] = groups.as_slice()
            && of(last) < of(first)
        {
            groups.reverse();
        }
        groups
    }

    /// The largest place of a member.
    pub(super) fn last_member(&self) -> usize {
        let all = self.groups.iter().flat_map(|group| &group.members).chain(&self.left_out);
        all.copied().max().unwrap_or(0)
    }
}

/// A number in its total order.
#[derive(Clone, Copy, Debug)]
struct Ordered(f64);

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Level,
    Anything,
}

/// The pieces of a pattern.
fn pieces(pattern: &str) -> Result<Vec<Piece>> {
    let wrong = |got: String| {
        Error::parameter(
            "levels",
            "a pattern such as leiden_{level}_{seed}, with {level} once",
            got,
        )
    };
    if pattern.matches(LEVEL).count() != 1 {
        return Err(wrong(format!("`{pattern}`")));
    }
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (piece, length) = if first == '*' {
            (Piece::Anything, 1)
        } else if first == '{' {
            let Some(end) = rest.find('}') else {
                return Err(wrong(format!("`{pattern}`, where a brace is not closed")));
            };
            (if rest.starts_with(LEVEL) { Piece::Level } else { Piece::Anything }, end + 1)
        } else {
            text.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(piece);
        rest = &rest[length..];
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// The level in a name that matches.
fn level_in<'a>(name: &'a str, pieces: &[Piece]) -> Option<&'a str> {
    let mut level = None;
    matches(name, 0, pieces, &mut level).then_some(())?;
    let (from, until) = level?;
    Some(&name[from..until])
}

/// Whether the pieces match what begins at `at`; where the level begins and ends is noted.
fn matches(name: &str, at: usize, pieces: &[Piece], level: &mut Option<(usize, usize)>) -> bool {
    let Some((piece, others)) = pieces.split_first() else { return at == name.len() };
    if let Piece::Text(text) = piece {
        return name[at..].starts_with(text) && matches(name, at + text.len(), others, level);
    }
    // Something must stand there; the shortest that lets the rest match.
    let ends = name[at..].char_indices().map(|(i, c)| at + i + c.len_utf8());
    let Some(end) = ends.into_iter().find(|&end| matches(name, end, others, level)) else {
        return false;
    };
    if *piece == Piece::Level {
        *level = Some((at, end));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(name: &str, pattern: &str) -> Option<String> {
        level_in(name, &pieces(pattern).unwrap()).map(str::to_owned)
    }

    #[test]
    fn patterns_find_the_level() {
        let of = |name, pattern| level(name, pattern);
        assert_eq!(of("leiden_0.5_3", "leiden_{level}_{seed}").as_deref(), Some("0.5"));
        assert_eq!(of("leiden_0.5_15_30_3", "leiden_{level}_{seed}").as_deref(), Some("0.5"));
        assert_eq!(of("leiden_15_0.5_3", "leiden_{k}_{level}_*").as_deref(), Some("0.5"));
        assert_eq!(of("res é 1,5", "res é {level}").as_deref(), Some("1,5"));
        assert_eq!(of("3.fine", "{seed}.{level}").as_deref(), Some("fine"));
        assert_eq!(of("leiden_0.5", "leiden_{level}_{seed}"), None, "something must stand there");
        assert_eq!(of("leiden__3", "leiden_{level}_{seed}"), None);
        assert_eq!(of("louvain_0.5_3", "leiden_{level}_{seed}"), None);
        for bad in ["leiden_{seed}", "{level}{level}", "leiden_{level}_{seed", ""] {
            assert!(pieces(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let levels = Levels::of_members(&["10", "2", "0.50", "2.0", "0.5"].map(Some)).unwrap();
        assert_eq!(levels.names().collect::<Vec<_>>(), ["0.5", "2", "10"]);
        assert_eq!(levels.groups[0].members, [2, 4]);
        // More neighbours, fewer clusters: the coarse level is the last.
        let turned = levels.coarse_first(|members| members[0] as f64);
        assert_eq!(turned[0].name, "10");
    }

    #[test]
    fn texts_are_ordered_by_numbers_of_clusters() {
        let levels = Levels::of_members(&["fine", "10", "coarse"].map(Some)).unwrap();
        let ordered = levels.coarse_first(|members| -(members[0] as f64));
        assert_eq!(
            ordered.iter().map(|g| g.name.as_str()).collect::<Vec<_>>(),
            ["coarse", "10", "fine"]
        );
    }

    #[test]
    fn nothing_found_is_said() {
        assert!(Levels::of_members(&[None::<&str>]).is_err());
        let names = ["batch".to_owned()];
        let error = Levels::by_pattern("leiden_{level}", &names).unwrap_err().to_string();
        assert!(error.contains("`batch`") && error.contains("leiden_{level}"), "{error}");
    }
}
