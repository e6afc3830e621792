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

/// Names of files and classes as well, and everything that is drawn.
#[cfg(unix)]
#[test]
fn names_of_files_and_classes_are_text_in_page_and_figures() {
    let folder = tempdir().unwrap();
    let names = names();
    let name = "<script>alert(1)<\u{2044}script>\"'&.csv";
    let head =
        format!("{},{},\"=class\",{}\n", quoted("=id()"), quoted(&names[0]), quoted(&names[1]));
    let line = |i: usize| {
        let (group, odd) = (i % 2, usize::from(i.is_multiple_of(7)));
        let (x, y) = (group as f64 * 6.0 + (i % 5) as f64 * 0.3, (i * 7 % 11) as f64 * 0.1);
        let class = &names[(group + odd) % 5];
        format!("{},{x},{},{y}\n", quoted(&format!("{}{i}", names[i % 9])), quoted(class))
    };
    fs::write(folder.path().join(name), head + &(0..48).map(line).collect::<String>()).unwrap();
    let options = ["run", name, "--id", "=id()", "--truth", "=class", "--k", "2", "--size", "6"];
    let output = run(folder.path(), &[&options[..], &["-o", "out"]].concat());
    assert!(output.status.success(), "{}", shown(&output));
    assert!(is_plain(&shown(&output)), "{}", shown(&output));
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));

    let listed = run(folder.path(), &["figure", "out"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let figures: Vec<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let mut drawn = 0;
    for figure in figures {
        let output = run(folder.path(), &["figure", "out", figure, "-o", "f.svg", "--force"]);
        if !output.status.success() {
            continue;
        }
        drawn += 1;
        let svg = fs::read_to_string(folder.path().join("f.svg")).unwrap();
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{figure}");
        assert!(!svg.contains("onerror=\""), "{figure}");
        // Nothing is loaded: pictures are in the file.
        let mut links = svg.split("href=\"").skip(1);
        assert!(links.all(|link| link.starts_with("data:image/png;base64,")), "{figure}");
        // No letter that XML does not know.
        assert!(svg.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')), "{figure}");
        let output = run(folder.path(), &["figure", "out", figure, "-o", "f.pdf", "--force"]);
        assert!(output.status.success(), "{figure}: {}", shown(&output));
        let pdf = fs::read(folder.path().join("f.pdf")).unwrap();
        // Nothing that a reader of PDF would run or open.
        for key in ["/JavaScript", "/OpenAction", "/Launch", "/URI"] {
            let key = key.as_bytes();
            assert!(!pdf.windows(key.len()).any(|part| part == key), "{figure}");
        }
    }
    assert!(drawn >= 5, "{drawn} figures of: {listed}");
}

/// What a saved result says of its files is no path that is written to.
#[test]
fn a_result_cannot_name_files_elsewhere() {
    let folder = tempdir().unwrap();
    let rows = (0..24).map(|i| format!("{},{},{}\n", i % 2, i % 2, i / 12));
    fs::write(folder.path().join("t.csv"), "a,b,c\n".to_owned() + &rows.collect::<String>())
        .unwrap();
    let save = ["combine", "t.csv", "--k", "2", "--save", "home/out"];
    fs::create_dir(folder.path().join("home")).unwrap();
    assert!(run(folder.path(), &save).status.success());
    let record = folder.path().join("home/out/result.json");
    let text = fs::read_to_string(&record).unwrap();
    let before: Vec<_> = listed(folder.path());
    for evil in ["../../evil.csv", "/tmp/consilience-evil.csv", "..", "a\\u0000b"] {
        fs::write(&record, text.replace("t.csv", evil)).unwrap();
        for command in
            [&["report", "home/out"][..], &["replay", "home/out"], &["explain", "home/out", "0"]]
        {
            run(folder.path(), command);
        }
        run(folder.path(), &["combine", "t.csv", "--add", "home/out", "-o", "more.csv", "--force"]);
    }
    fs::remove_file(folder.path().join("more.csv")).ok();
    assert_eq!(listed(folder.path()), before);
    assert!(!std::path::Path::new("/tmp/consilience-evil.csv").exists());
}

/// The files in a folder and below.
fn listed(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(listed(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
