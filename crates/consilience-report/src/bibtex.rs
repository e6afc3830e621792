//! References of the methods as BibTeX.
//!
//! Methods name their papers in one line, `A. Author, B. Author. Title. Venue Year.`, for people. The
//! same line is taken apart here, so that there is one place where a paper is written down.

use std::fmt::Write as _;

/// A paper.
#[derive(Debug, PartialEq, Eq)]
struct Paper<'a> {
    authors: Vec<&'a str>,
    title: &'a str,
    venue: &'a str,
    /// Volume and number, of a journal.
    volume: Option<(&'a str, Option<&'a str>)>,
    year: &'a str,
}

/// The papers of a reference as BibTeX; one that is written otherwise than usual becomes a note.
pub(crate) fn entries(reference: &str, name: &str) -> String {
    let papers: Option<Vec<Paper<'_>>> = split(reference).into_iter().map(Paper::read).collect();
    if let Some(papers) = papers {
        return papers.iter().map(Paper::entry).collect::<Vec<_>>().join("\n");
    }
    let key: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("@misc{{{key},\n  note = {{{reference}}}\n}}\n")
}

/// Several references, each ending in a year.
fn split(reference: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = reference;
    let year =
        |text: &str| text.len() >= 4 && text.bytes().rev().take(4).all(|b| b.is_ascii_digit());
    while let Some((at, _)) = rest.match_indices(". ").find(|(at, _)| year(&rest[..*at])) {
        all.push(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    all.push(rest);
    all
}

impl<'a> Paper<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let text = text.strip_prefix("A rival in ").unwrap_or(text);
        let (authors, rest) = sentence(text)?;
        let (title, rest) = sentence(rest)?;
        let rest = rest.trim_end_matches('.');
        let (venue, year) = rest.rsplit_once(' ')?;
        if year.len() != 4 || !year.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let (venue, volume) = match venue.strip_suffix(',') {
            Some(journal) => {
                let (journal, volume) = journal.rsplit_once(' ')?;
                let volume = match volume.strip_suffix(')').and_then(|v| v.split_once('(')) {
                    Some((volume, number)) => (volume, Some(number)),
                    None => (volume, None),
                };
                (journal, Some(volume))
            }
            None => (venue, None),
        };
        let authors = match authors.strip_suffix(" et al") {
            Some(first) => vec![first, "others"],
            None => authors.split(", ").collect(),
        };
        Some(Paper { authors, title, venue, volume, year })
    }

    /// The surname of the first author and the year.
    fn key(&self) -> String {
        let surname = self.authors[0].rsplit(' ').next().unwrap_or_default();
        let letters = surname.chars().filter(char::is_ascii_alphabetic);
        letters.map(|c| c.to_ascii_lowercase()).chain(self.year.chars()).collect()
    }

    fn entry(&self) -> String {
        let kind = if self.volume.is_some() { "article" } else { "inproceedings" };
        let place = if self.volume.is_some() { "journal" } else { "booktitle" };
        let mut fields = vec![
            ("author", self.authors.join(" and ")),
            // Braces keep the capitals that styles would make small.
            ("title", format!("{{{}}}", self.title)),
            (place, self.venue.to_owned()),
        ];
        if let Some((volume, number)) = self.volume {
            fields.push(("volume", volume.to_owned()));
            fields.extend(number.map(|number| ("number", number.to_owned())));
        }
        fields.push(("year", self.year.to_owned()));
        let mut text = format!("@{kind}{{{},\n", self.key());
        for (i, (name, value)) in fields.iter().enumerate() {
            let comma = if i + 1 < fields.len() { "," } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<9} = {{{value}}}{comma}");
        }
        text + "}\n"
    }
}

/// The text before the first full stop that is not that of an initial, and what follows.
fn sentence(text: &str) -> Option<(&str, &str)> {
    let ends = |(at, _): &(usize, &str)| {
        let word = text[..*at].rsplit(' ').next().unwrap_or_default();
        !word.split(['.', '-']).all(|part| part.chars().count() <= 1)
    };
    let (at, _) = text.match_indices(". ").find(ends)?;
    Some((&text[..at], &text[at + 2..]))
}

#[cfg(test)]
mod tests {
    use consilience::consensus::METHODS;

    use super::*;

    #[test]
    fn a_paper_in_a_journal_and_one_at_a_conference() {
        let text = "D. Huang, C.-D. Wang, J.-H. Lai. Locally Weighted: A Study. IEEE Trans. Cybernetics \
                    48(5), 2018.";
        assert_eq!(
            entries(text, "x"),
            "@article{huang2018,\n  author    = {D. Huang and C.-D. Wang and J.-H. Lai},\n  title     = \
             {{Locally Weighted: A Study}},\n  journal   = {IEEE Trans. Cybernetics},\n  volume    = \
             {48},\n  number    = {5},\n  year      = {2018}\n}\n"
        );
        let two = entries("P. Kellam et al. Clusters. IDAMAP 2001. T. Li. More. SDM 2008.", "x");
        assert!(two.contains("author    = {P. Kellam and others}"), "{two}");
        assert!(
            two.contains("@inproceedings{kellam2001,") && two.contains("@inproceedings{li2008,")
        );
        assert!(two.contains("booktitle = {IDAMAP}"), "{two}");
        assert_eq!(entries("A private note", "a-b"), "@misc{ab,\n  note = {A private note}\n}\n");
    }

    #[test]
    fn every_method_can_be_cited() {
        for info in METHODS {
            let text = entries(info.reference, info.name);
            assert!(!text.contains("@misc"), "{}: {}", info.name, info.reference);
            assert!(!text.contains("rival"), "{text}");
        }
    }
}
