//! Several files that get their names together.
//!
//! No system renames two files at once, so there is more to it. If a rename fails, those before it are
//! undone: what they replaced was kept under a second name. And the files of a folder of results stand
//! in a hidden folder inside it, called [`COMPLETE`], while they are moved. Who is killed meanwhile
//! leaves that behind, and [`recover`] moves the rest before anybody reads the folder.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The folder in a folder of results that holds complete files which are about to be moved.
const COMPLETE: &str = ".complete";
/// In it: what was there before, under a second name.
const OLD: &str = ".old";
/// In it: the names of files that go, one per line.
const GONE: &str = ".gone";

/// Waits until what was written to a file is on the disk: a file that has its name before its contents
/// would be empty after a power cut, and what it replaced gone. Where the system has no such call, or the
/// file is none that it can be asked of, there is nothing to wait for.
pub(crate) fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {
            Ok(())
        }
        result => result,
    }
}

/// The same for the names in a folder. Without it a file may have its old name and contents after a power
/// cut, which is no damage: if it fails, nobody need hear of it.
pub(crate) fn sync_names(folder: &Path) {
    if cfg!(unix) {
        let folder = if folder == Path::new("") { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Waits until the files that take their places are on the disk.
fn sync_all(aside: &Path) -> io::Result<()> {
    for name in names_in(aside)? {
        // Windows wants to know that it may be written to.
        sync(&OpenOptions::new().read(true).write(true).open(aside.join(name))?)?;
    }
    Ok(())
}

/// Renames that can be undone.
#[derive(Default)]
struct Moves {
    /// Where a file was put or removed, and what was there before.
    done: Vec<(PathBuf, Option<PathBuf>)>,
}

impl Moves {
    /// Puts a file in its place. What is there stays under the name `old` until [`settle`](Self::settle).
    fn put(&mut self, from: &Path, to: &Path, old: PathBuf) -> io::Result<()> {
        self.change(to, old, || fs::rename(from, to))
    }

    /// Removes a file that may be there.
    fn remove(&mut self, path: &Path, old: PathBuf) -> io::Result<()> {
        self.change(path, old, || match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
    }

    fn change(
        &mut self,
        path: &Path,
        old: PathBuf,
        work: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let before = keep_old(path, old)?;
        let done = work();
        match before {
            // Nothing was changed. A rename between two names of one file would do nothing.
            Some(old) if done.is_err() && path.exists() => drop(fs::remove_file(old)),
            before => self.done.push((path.to_owned(), before)),
        }
        done
    }

    /// Brings back what was there.
    fn undo(self) {
        for (path, before) in self.done.into_iter().rev() {
            match before {
                // A system that renames no more may still copy.
                Some(old) if fs::rename(&old, &path).is_err() => {
                    let _ = fs::copy(&old, &path).and_then(|_| fs::remove_file(&old));
                }
                Some(_) => {}
                None => drop(fs::remove_file(path)),
            }
        }
    }

    /// Forgets what was there.
    fn settle(self) {
        for old in self.done.into_iter().filter_map(|(_, before)| before) {
            // A second name that cannot be removed does no harm.
            let _ = fs::remove_file(old);
        }
    }
}

/// Gives a file that may be there a second name, and tells it.
fn keep_old(path: &Path, old: PathBuf) -> io::Result<Option<PathBuf>> {
    match fs::hard_link(path, &old) {
        Ok(()) => Ok(Some(old)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        // Kept before the program was killed.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Some(old)),
        // A folder is never replaced by a file.
        Err(_) if path.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // Not every file system has second names.
        Err(_) => fs::rename(path, &old).map(|()| Some(old)),
    }
}

/// A folder `aside` with files that take their places in the folder `to`, in which some are `gone`.
pub(crate) struct FolderMove {
    pub(crate) aside: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) gone: Vec<String>,
}

/// Waits until what [`put_all`] is about to move is on the disk. That may take a while, and nothing is
/// changed yet: who interrupts meanwhile has everything as it was.
pub(crate) fn sync_before(files: &[&File], folders: &[FolderMove]) -> io::Result<()> {
    files.iter().try_for_each(|file| sync(file))?;
    folders.iter().try_for_each(|folder| sync_all(&folder.aside))
}

/// Puts files and the contents of folders in their places, all or none.
pub(crate) fn put_all(files: &[(PathBuf, PathBuf)], folders: &[FolderMove]) -> io::Result<()> {
    let mut moves = Moves::default();
    let mut moved: Vec<(&PathBuf, Vec<OsString>)> = Vec::new();
    let mut put = |moves: &mut Moves| {
        for (i, (from, to)) in files.iter().enumerate() {
            let old = format!(".consilience-{}-{i}.old", std::process::id());
            moves.put(from, to, to.with_file_name(old))?;
        }
        for FolderMove { aside, to, gone } in folders {
            fs::write(aside.join(GONE), gone.join("\n"))?;
            sync(&OpenOptions::new().read(true).write(true).open(aside.join(GONE))?)?;
            let names = names_in(aside)?;
            sync_names(aside);
            fs::rename(aside, to.join(COMPLETE))?;
            // Nobody takes what is complete for less once files are moved out of it.
            sync_names(to);
            moved.push((to, names));
            let (_, names) = moved.last().expect("just put there");
            empty(to, names, gone.iter().map(String::as_str), moves)?;
        }
        Ok(())
    };
    let result = put(&mut moves);
    if result.is_err() {
        moves.undo();
        // What is not complete any more must not be taken for it.
        for (to, names) in &moved {
            names.iter().for_each(|name| drop(fs::remove_file(to.join(COMPLETE).join(name))));
        }
    } else {
        moves.settle();
    }
    moved.iter().for_each(|(to, _)| remove_complete(to));
    if result.is_ok() {
        let of_files = files.iter().filter_map(|(_, to)| to.parent());
        let places: BTreeSet<&Path> =
            of_files.chain(folders.iter().map(|folder| folder.to.as_path())).collect();
        places.into_iter().for_each(sync_names);
    }
    result
}

/// The names of the files in a folder, but for hidden ones.
fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

/// Moves what is complete in `folder` to its place.
fn empty<'a>(
    folder: &Path,
    names: &[OsString],
    gone: impl Iterator<Item = &'a str>,
    moves: &mut Moves,
) -> io::Result<()> {
    let complete = folder.join(COMPLETE);
    let old = complete.join(OLD);
    fs::create_dir_all(&old)?;
    // Whatever is removed goes first: once all files are moved, nothing is left to be done.
    for name in gone {
        moves.remove(&folder.join(name), old.join(name))?;
    }
    for name in names {
        moves.put(&complete.join(name), &folder.join(name), old.join(name))?;
    }
    Ok(())
}

/// Removes what all files have been moved from; it does no harm if it stays.
fn remove_complete(folder: &Path) {
    let complete = folder.join(COMPLETE);
    let _ = fs::remove_file(complete.join(GONE));
    let _ = fs::remove_dir(complete.join(OLD));
    if fs::remove_dir(&complete).is_err() {
        let _ = fs::remove_dir_all(complete);
    }
}

/// Removes folders that programs which were killed have left in `folder`. Only who has
/// [taken](FolderLock) the folder knows that nobody needs them.
pub fn sweep(folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left = entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes());
        if is_left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Finishes what a program that was killed has begun: the files of a folder of results are all new
/// afterwards. Does nothing in any other folder.
pub fn recover(folder: &Path) -> io::Result<()> {
    let complete = folder.join(COMPLETE);
    if !complete.is_dir() {
        return Ok(());
    }
    let finish = || -> io::Result<()> {
        let names = names_in(&complete)?;
        // All were moved: the names of what is gone may be those of new files by now.
        if !names.is_empty() {
            let gone = fs::read_to_string(complete.join(GONE))?;
            empty(folder, &names, gone.lines(), &mut Moves::default())?;
        }
        Ok(())
    };
    match finish() {
        // Another process has done it in the meantime.
        Err(error) if error.kind() == ErrorKind::NotFound && !complete.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => {
            remove_complete(folder);
            Ok(())
        }
    }
}

/// A folder that only one process writes to, as long as the value lives. The system gives it free
/// when the process ends, however it ends.
pub struct FolderLock(#[allow(dead_code, reason = "held, not used")] Option<File>);

impl FolderLock {
    /// Takes the folder, or tells that another process has it (`None`). Where the system locks no
    /// folders, everybody gets it.
    pub fn take(folder: &Path) -> Option<Self> {
        let Ok(file) = File::open(folder) else { return Some(FolderLock(None)) };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Error(_)) => Some(FolderLock(None)),
            Ok(()) => Some(FolderLock(Some(file))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with old files `a` and `b`, and new ones `a` and `c` aside.
    fn folders() -> (tempfile::TempDir, FolderMove) {
        let home = tempfile::tempdir().unwrap();
        let (to, aside) = (home.path().join("to"), home.path().join("aside"));
        for (folder, names, text) in [(&to, ["a", "b"], "old"), (&aside, ["a", "c"], "new")] {
            fs::create_dir(folder).unwrap();
            names.iter().for_each(|name| fs::write(folder.join(name), text).unwrap());
        }
        (home, FolderMove { aside, to, gone: vec!["b".to_owned(), "never".to_owned()] })
    }

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let mut found: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(path).unwrap_or_default())
            })
            .collect();
        found.sort();
        found
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn a_folder_is_replaced_as_a_whole() {
        let (_home, folder) = folders();
        let to = folder.to.clone();
        put_all(&[], &[folder]).unwrap();
        assert_eq!(contents(&to), pairs(&[("a", "new"), ("c", "new")]));
    }

    #[test]
    fn a_failed_move_is_undone() {
        let (home, folder) = folders();
        let to = folder.to.clone();
        // A folder cannot be replaced by a file.
        fs::create_dir_all(to.join("c/inside")).unwrap();
        let plain = home.path().join("plain");
        fs::write(&plain, "old").unwrap();
        fs::write(home.path().join("next"), "new").unwrap();
        let files = [(home.path().join("next"), plain.clone())];
        assert!(put_all(&files, &[folder]).is_err());
        assert_eq!(contents(&to), pairs(&[("a", "old"), ("b", "old"), ("c", "")]));
        assert_eq!(fs::read_to_string(plain).unwrap(), "old");
        let left = contents(home.path());
        assert!(left.iter().all(|(name, _)| !name.starts_with('.')), "{left:?}");
    }

    #[test]
    fn moves_that_were_cut_short_are_finished() {
        // Killed after the first, the second, ... step.
        for steps in 0..3 {
            let (_home, FolderMove { aside, to, gone }) = folders();
            fs::write(aside.join(GONE), gone.join("\n")).unwrap();
            fs::rename(&aside, to.join(COMPLETE)).unwrap();
            let old = to.join(COMPLETE).join(OLD);
            fs::create_dir(&old).unwrap();
            let mut moves = Moves::default();
            if steps > 0 {
                moves.remove(&to.join("b"), old.join("b")).unwrap();
            }
            if steps > 1 {
                moves.put(&to.join(COMPLETE).join("a"), &to.join("a"), old.join("a")).unwrap();
            }
            recover(&to).unwrap();
            assert_eq!(contents(&to), pairs(&[("a", "new"), ("c", "new")]), "{steps}");
        }
    }

    #[test]
    fn what_was_finished_is_left_alone() {
        let (_home, FolderMove { to, .. }) = folders();
        recover(&to).unwrap();
        assert_eq!(contents(&to), pairs(&[("a", "old"), ("b", "old")]));
        // All files were moved, but the folder could not be removed: `b` may be somebody's by now.
        fs::create_dir(to.join(COMPLETE)).unwrap();
        fs::write(to.join(COMPLETE).join(GONE), "b").unwrap();
        recover(&to).unwrap();
        assert_eq!(contents(&to), pairs(&[("a", "old"), ("b", "old")]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_is_taken_by_one() {
        let home = tempfile::tempdir().unwrap();
        let lock = FolderLock::take(home.path());
        assert!(lock.is_some());
        assert!(FolderLock::take(home.path()).is_none());
        drop(lock);
        assert!(FolderLock::take(home.path()).is_some());
    }
}
