//! What must not be left behind when the program ends at once.
//!
//! Everything with a temporary name is made and renamed here, under one lock. Whoever ends the
//! program takes the lock first, so that nothing new appears, removes what is there, and never
//! gives the lock back.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, TempDir};

use crate::moves::{FolderMove, put_all, sync, sync_before, sync_names};

/// What is done before the program ends at once, by number.
static DUTIES: Mutex<Duties> = Mutex::new(Duties { next: 0, list: Vec::new(), finished: false });

struct Duties {
    next: u64,
    /// Whether the results are in their places, and ending at once would only hide that.
    finished: bool,
    list: Vec<(u64, Box<dyn FnOnce() + Send>)>,
}

impl Duties {
    fn add(&mut self, work: impl FnOnce() + Send + 'static) -> Duty {
        self.next += 1;
        self.list.push((self.next, Box::new(work)));
        Duty(self.next)
    }

    fn remove(&mut self, duty: u64) {
        self.list.retain(|(number, _)| *number != duty);
    }
}

/// A panic elsewhere is no reason to leave anything behind.
fn duties() -> MutexGuard<'static, Duties> {
    DUTIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something to do if the program ends at once while this value lives.
pub struct Duty(u64);

impl Duty {
    /// `work` must not make or rename temporary files.
    pub fn new(work: impl FnOnce() + Send + 'static) -> Self {
        duties().add(work)
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        duties().remove(self.0);
    }
}

/// Ends the program at once with this exit code, after all duties, the youngest first, and after
/// `last_words`.
pub fn leave(code: i32, last_words: impl FnOnce()) -> ! {
    end(duties(), code, last_words)
}

/// The same, unless the results are already in their places.
pub fn leave_unless_finished(code: i32, last_words: impl FnOnce()) {
    let duties = duties();
    if !duties.finished {
        end(duties, code, last_words);
    }
}

/// [`leave`], as far as it can be done when there is no memory left: without the duties if somebody is
/// just changing them.
pub fn leave_without_memory(code: i32, last_words: impl FnOnce()) -> ! {
    if let Ok(duties) = DUTIES.try_lock() {
        end(duties, code, last_words);
    }
    last_words();
    std::process::exit(code)
}

fn end(mut duties: MutexGuard<'_, Duties>, code: i32, last_words: impl FnOnce()) -> ! {
    while let Some((_, work)) = duties.list.pop() {
        work();
    }
    last_words();
    std::process::exit(code)
}

/// Does the last step, which puts the results in their places: the program does not
/// [`leave`] in the middle of it, and afterwards only if it is asked twice.
pub fn finish<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let mut duties = duties();
    let result = work();
    duties.finished |= result.is_ok();
    result
}

/// A file that goes away with the value, or when the program ends, unless it is
/// [kept](Self::keep).
pub struct TemporaryFile {
    // Fields go in this order: the file before the duty to remove it.
    file: NamedTempFile,
    duty: Duty,
}

impl TemporaryFile {
    /// A new file in `folder`, called as `builder` says.
    ///
    /// # Errors
    ///
    /// If none can be made there.
    pub fn new(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<Self> {
        let mut duties = duties();
        let file = builder.tempfile_in(folder)?;
        let path = file.path().to_owned();
        // What cannot be removed now never can.
        let duty = duties.add(move || drop(fs::remove_file(path)));
        Ok(TemporaryFile { file, duty })
    }

    /// The open file.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// The same as [`keep`](Self::keep), once what it holds is on the disk: after a power cut there is the new
    /// file or the old one.
    pub fn keep_for_good(self, path: &Path) -> io::Result<()> {
        sync(self.file())?;
        self.keep(path)?;
        path.parent().into_iter().for_each(sync_names);
        Ok(())
    }

    /// Gives the file its name, in place of what may be there. For what can be made again: a power cut may
    /// leave it empty.
    pub fn keep(self, path: &Path) -> io::Result<()> {
        // Goes last: the duty takes the lock itself.
        let TemporaryFile { file, duty: _duty } = self;
        let _duties = duties();
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Gives files their names, and puts the files of folders in their places, as the [last step](finish):
/// all of them, or none.
pub(crate) fn keep_all(
    mut files: Vec<(TemporaryFile, PathBuf)>,
    folders: &[(TemporaryFolder, PathBuf, Vec<String>)],
) -> io::Result<()> {
    let paths: Vec<_> =
        files.iter().map(|(file, to)| (file.file.path().to_owned(), to.clone())).collect();
    let moves: Vec<_> = folders
        .iter()
        .map(|(aside, to, gone)| FolderMove {
            aside: aside.path().to_owned(),
            to: to.clone(),
            gone: gone.clone(),
        })
        .collect();
    let open: Vec<&File> = files.iter().map(|(file, _)| file.file()).collect();
    sync_before(&open, &moves)?;
    finish(|| put_all(&paths, &moves))?;
    files.iter_mut().for_each(|(file, _)| file.file.disable_cleanup(true));
    Ok(())
}

/// A folder that goes away with the value, or when the program ends.
pub struct TemporaryFolder {
    folder: TempDir,
    _duty: Duty,
}

impl TemporaryFolder {
    /// A new folder in `folder`, called as `builder` says.
    ///
    /// # Errors
    ///
    /// If none can be made there.
    pub fn new(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<Self> {
        let mut duties = duties();
        let folder = builder.tempdir_in(folder)?;
        let path: PathBuf = folder.path().to_owned();
        let duty = duties.add(move || drop(fs::remove_dir_all(path)));
        Ok(TemporaryFolder { folder, _duty: duty })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn is_due(duty: &Duty) -> bool {
        duties().list.iter().any(|(number, _)| *number == duty.0)
    }

    #[test]
    fn a_temporary_file_is_a_duty_until_it_is_kept_or_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let file = TemporaryFile::new(&Builder::new(), folder.path()).unwrap();
        let number = file.duty.0;
        assert!(is_due(&file.duty));
        file.keep(&path).unwrap();
        assert!(duties().list.iter().all(|(n, _)| *n != number));
        assert_eq!(names_in(folder.path()), ["a"]);
        let file = TemporaryFile::new(&Builder::new(), folder.path()).unwrap();
        assert_eq!(names_in(folder.path()).len(), 2);
        drop(file);
        assert_eq!(names_in(folder.path()), ["a"]);
    }

    #[test]
    fn a_duty_removes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = TemporaryFile::new(&Builder::new(), folder.path()).unwrap();
        let number = file.duty.0;
        let mut duties = duties();
        let place = duties.list.iter().position(|(n, _)| *n == number).unwrap();
        let (_, work) = duties.list.remove(place);
        drop(duties);
        work();
        assert!(names_in(folder.path()).is_empty());
        drop(file);
    }
}
