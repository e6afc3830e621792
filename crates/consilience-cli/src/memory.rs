//! The memory ceiling: what `--memory` says, or most of what the machine grants us.

use std::fs;
use std::path::{Path, PathBuf};

/// The share of the machine's memory that is ours unless `--memory` says otherwise: the rest is for
/// the system, the page cache, and what a method's estimate leaves out.
const SHARE: f64 = 0.8;

/// Reads a size such as `8GiB`, `500MB`, `2g` or `1073741824`.
///
/// `KB MB GB TB` count by 1000; `KiB MiB GiB TiB` and the bare letters `k m g t` by 1024. Case does
/// not matter.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim().to_ascii_lowercase();
    let factor: f64 = match unit.as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "k" | "kib" => f64::from(1u32 << 10),
        "m" | "mib" => f64::from(1u32 << 20),
        "g" | "gib" => f64::from(1u32 << 30),
        "t" | "tib" => (1u64 << 40) as f64,
        _ => return Err(format!("unknown unit `{unit}`: write a size such as 8GiB or 500MB")),
    };
    match number.parse::<f64>() {
        Ok(number) if number * factor >= 1.0 => Ok((number * factor) as u64),
        _ => Err("write a size above 0 such as 8GiB or 500MB".to_owned()),
    }
}

/// The ceiling when `--memory` is not given: 80 % of what the machine or, if smaller, its control
/// group has; no ceiling where the system does not tell (outside Linux).
pub(crate) fn default_ceiling() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = limit_files(&groups, Path::new("/sys/fs/cgroup"))
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok())
        .min();
    // A control group without a limit reports a number beyond any machine (v1) or `max` (v2).
    let available = machine.into_iter().chain(group).min();
    available.map_or(u64::MAX, |bytes| (bytes as f64 * SHARE) as u64)
}

/// `MemTotal` in `/proc/meminfo`, in bytes.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The files that may limit our memory: those of our own control group and of all above it, since
/// a parent's limit binds too. Inside a container the mount shows only our part of the tree, so
/// paths that do not exist are expected.
fn limit_files(own_groups: &str, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in own_groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (mount, name) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|c| c == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        let path = Path::new(path.trim_start_matches('/'));
        files.extend(path.ancestors().map(|above| mount.join(above).join(name)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_by_1000_and_by_1024() {
        let cases = [
            ("8GiB", 8 << 30),
            ("500MB", 500_000_000),
            ("2g", 2 << 30),
            ("1.5 GiB", 3 << 29),
            ("1024", 1024),
            ("10kb", 10_000),
            ("7b", 7),
            ("1T", 1 << 40),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "GiB", "-1GiB", "8 giga", "0", "0.0001", "1.2.3g", "nan"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_machine_tells_its_memory() {
        let text = "MemTotal:        8039936 kB\nMemFree:          123 kB\n";
        assert_eq!(total_memory(text), Some(8_039_936 * 1024));
        assert_eq!(total_memory("MemFree: 1 kB"), None);
    }

    #[test]
    fn limits_of_all_groups_above_count() {
        let v2 = limit_files("0::/user/me\n", Path::new("/cg"));
        let expected = ["/cg/user/me/memory.max", "/cg/user/memory.max", "/cg/memory.max"];
        assert_eq!(v2, expected.map(PathBuf::from));
        let v1 = limit_files("4:cpu,memory:/job\n3:cpuset:/\n", Path::new("/cg"));
        let expected = ["/cg/memory/job/memory.limit_in_bytes", "/cg/memory/memory.limit_in_bytes"];
        assert_eq!(v1, expected.map(PathBuf::from));
    }

    #[test]
    fn this_machine_has_a_ceiling_above_a_megabyte() {
        assert!(default_ceiling() > 1 << 20);
    }
}
