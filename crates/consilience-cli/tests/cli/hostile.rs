//! Hostile names as identifiers, labels, members and columns: they come through as the text they are,
//! and cannot rewrite a terminal or a page.

use std::fs;

use tempfile::tempdir;

use crate::{run, shown};

fn names() -> Vec<String> {
    let long = "x".repeat(10_000);
    let names = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "it's \"quoted\", twice",
        "=cmd()",
        "+1+cmd|' /C calc'!A0",
        "@SUM(1)",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202e}abc",
        "🧬🧫",
        "\u{1b}[31mred\u{1b}[0m\u{7}",
        "two\nlines",
        "{{ 7 * 7 }}",
        long.as_str(),
    ];
    names.map(str::to_owned).to_vec()
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

/// The cells of a CSV file, quotes undone.
fn parsed(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut inside) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if inside && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => inside = !inside,
            ',' if !inside => row.push(std::mem::take(&mut cell)),
            '\n' if !inside => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.push(other),
        }
    }
    rows
}

/// Nothing that moves the cursor, rings, colours or turns the direction of text.
fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}'))
}

#[test]
fn names_are_text_in_files_terminal_and_page() {
    let folder = tempdir().unwrap();
    let names = names();
    let members = &names[..7];
    let mut text: Vec<String> = vec![
        std::iter::once("=id()".to_owned())
            .chain(members.iter().cloned())
            .map(|name| quoted(&name))
            .collect::<Vec<_>>()
            .join(","),
    ];
    let ids: Vec<String> = (0..36).map(|i| format!("{}{i}", names[i % names.len()])).collect();
    for (i, id) in ids.iter().enumerate() {
        let mut cells = vec![quoted(id)];
        for h in 0..members.len() {
            // Two groups with an odd one out here and there, called by hostile names.
            let group = (i + usize::from((i + h) % 9 == 0)) % 2;
            cells.push(quoted(&names[(group + h) % names.len()]));
        }
        text.push(cells.join(","));
    }
    fs::write(folder.path().join("labels.csv"), text.join("\n") + "\n").unwrap();
    let options = ["combine", "labels.csv", "--id", "=id()", "--k", "2", "--save", "out"];
    let output = run(folder.path(), &options);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(is_plain(&shown(&output)), "{}", shown(&output));

    // Files: the identifiers are what they were, so that tables can be joined on them.
    let labels = parsed(&fs::read_to_string(folder.path().join("out/labels.csv")).unwrap());
    assert_eq!(
        labels[1..].iter().map(|row| &row[0]).collect::<Vec<_>>(),
        ids.iter().collect::<Vec<_>>()
    );
    let again = run(folder.path(), &["assign", "out", "labels.csv", "-o", "again.csv", "--json"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("\"exact\":36"), "{}", shown(&again));

    // Terminal: whatever is said of them.
    let some = [&ids[0], &ids[3], &ids[6], &ids[8], &ids[9]].map(String::as_str);
    let output = run(folder.path(), &[&["explain", "out"], &some[..]].concat());
    assert!(output.status.success() && is_plain(&shown(&output)), "{}", shown(&output));
    assert!(shown(&output).contains("object =cmd()3: cluster"), "{}", shown(&output));
    for arguments in [
        &["explain", "out", "\u{1b}[31mred"][..],
        &["check", "labels.csv", "--id", "=id()"],
        &["score", "labels.csv", "--drop", "=id()"],
        &["combine", "labels.csv", "--id", "\u{1b}[2J"],
    ] {
        let output = run(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(is_plain(&said), "{arguments:?}: {said:?}");
    }

    // The page: two scripts of its own, no markup of theirs.
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains(">49<") && !page.contains('\u{202e}'));
    assert!(page.len() < 1_000_000);
}
