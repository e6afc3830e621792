//! Numbers, names and lists as they are written for people.

/// `1234567` → `1,234,567`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A name that users wrote, fit to be printed: control characters and those that turn the direction
/// of text are spelled out, so that none can rewrite a terminal or a sentence.
pub fn named(name: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_control() || turns(letter) {
            text.extend(letter.escape_unicode());
        } else {
            text.push(letter);
        }
    }
    text
}

/// `1 cluster`, `3 clusters`.
pub fn counted(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// At most the first `most` of `items`, then how many more there are.
pub fn listed<T: ToString>(items: &[T], most: usize) -> String {
    let mut words: Vec<_> = items.iter().take(most).map(T::to_string).collect();
    if items.len() > most {
        words.push(format!("... ({} more)", count(items.len() - most)));
    }
    words.join(", ")
}

/// Whole percents, but never 0 % of something or 100 % of less than all.
pub fn percent(share: f64) -> String {
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

    #[test]
    fn counts_are_grouped_by_thousands() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        assert_eq!(counted(1, "cluster"), "1 cluster");
        assert_eq!(counted(2000, "cluster"), "2,000 clusters");
    }

    #[test]
    fn names_cannot_rewrite_the_terminal() {
        assert_eq!(named("plain \u{5d0} 🧬 =cmd()"), "plain \u{5d0} 🧬 =cmd()");
        assert_eq!(named("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\u{a}c");
        assert_eq!(named("x\u{202e}y"), "x\\u{202e}y");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(&[5, 4], 3), "5, 4");
        assert_eq!(listed(&[5, 4, 3, 2, 1], 3), "5, 4, 3, ... (2 more)");
    }
}
