//! Where results go: files that appear whole or not at all, and standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::{Compression, GzBuilder};

use crate::cleanup::{TemporaryFile, TemporaryFolder, keep_all};
use crate::{Format, describe};

/// What can go wrong while a result is written.
#[derive(Debug, PartialEq, thiserror::Error)]
// What a variant and its fields are is said by its message.
#[allow(missing_docs)]
pub enum OutputError {
    #[error("{file}: the ending does not say what kind of file to write; use {}", Format::ENDINGS)]
    UnknownEnding { file: String },

    #[error("{file} is a directory: give the name of a file in it")]
    Directory { file: String },

    #[error(
        "{file} cannot be written: {problem}; nothing was left there; check the folder and its \
         permissions, or give another place"
    )]
    Failed { file: String, problem: String },

    #[error(
        "{file} cannot be written: {problem}; nothing was left there; make room, or give another \
         place"
    )]
    Full { file: String, problem: String },

    #[error("{file} cannot be written: {problem}; {hint}")]
    Unsupported { file: String, problem: String, hint: String },

    #[error(transparent)]
    Library(#[from] consilience::Error),
}

impl OutputError {
    /// An error of the operating system while `file` was written.
    pub fn io(file: String, error: &io::Error) -> Self {
        let problem = describe(error);
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                OutputError::Full { file, problem }
            }
            _ => OutputError::Failed { file, problem },
        }
    }
}

/// Files that are written and get their names together, once all of them are complete.
#[derive(Clone, Default)]
pub struct Stage(Arc<Mutex<Waiting>>);

/// What waits for its name.
#[derive(Default)]
struct Waiting {
    files: Vec<(TemporaryFile, PathBuf)>,
    folders: Vec<(TemporaryFolder, PathBuf, Vec<String>)>,
}

impl Stage {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, file: TemporaryFile, path: PathBuf) {
        self.waiting().files.push((file, path));
    }

    /// The files in `aside` take their places in the folder `to`, on the same file system, in which the
    /// files `gone` are then no more.
    pub fn folder(&self, aside: TemporaryFolder, to: &Path, gone: Vec<String>) {
        self.waiting().folders.push((aside, to.to_owned(), gone));
    }

    /// Gives the files their names, once they are on the disk: the last step of a command. If that fails, all is as it
    /// was before.
    pub fn commit(&self) -> Result<(), OutputError> {
        let Waiting { files, folders } = std::mem::take(&mut *self.waiting());
        let places = files.iter().map(|(_, path)| path).chain(folders.iter().map(|(_, to, _)| to));
        let shown: Vec<String> = places.map(|path| path.display().to_string()).collect();
        keep_all(files, &folders).map_err(|error| OutputError::io(shown.join(", "), &error))
    }
}

/// Where a result goes.
#[derive(Clone)]
pub struct Target {
    path: PathBuf,
    stage: Option<Stage>,
    /// Where the bytes go if not to a file.
    memory: Option<Memory>,
}

/// What was written to memory; clones share it.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was written.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock())
    }
}

impl Target {
    /// A file, or standard output for `-`.
    ///
    /// Refuses what cannot work before anything is computed: a directory, a folder that is not there
    /// or that nothing can be written to.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        let target = Target { path: path.into(), stage: None, memory: None };
        if target.is_stdout() {
            return Ok(target);
        }
        if target.path.is_dir() {
            return Err(OutputError::Directory { file: target.shown() });
        }
        if !folder_of(&target.path).is_dir() {
            let problem = format!("there is no folder {}", folder_of(&target.path).display());
            return Err(OutputError::Failed { file: target.shown(), problem });
        }
        if !target.is_special() {
            let tried = TemporaryFile::new(&temporary_names(), folder_of(&target.real_path()));
            tried.map_err(|error| OutputError::io(target.shown(), &error))?;
        }
        Ok(target)
    }

    /// The same for a table: the ending must tell the format.
    pub fn table(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        let target = Self::new(path)?;
        target.format()?;
        Ok(target)
    }

    /// The same place; the file gets its name with the others of the stage.
    #[must_use]
    pub fn on(mut self, stage: &Stage) -> Self {
        self.stage = Some(stage.clone());
        self
    }

    /// No file, but what a file of this name would hold.
    pub fn memory(name: impl Into<PathBuf>, memory: &Memory) -> Self {
        Target { path: name.into(), stage: None, memory: Some(memory.clone()) }
    }

    /// Standard output.
    pub fn stdout() -> Self {
        Target { path: PathBuf::from("-"), stage: None, memory: None }
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        self.path == Path::new("-")
    }

    /// The format that the ending tells.
    pub(super) fn format(&self) -> Result<Format, OutputError> {
        Format::of(&self.path).ok_or_else(|| OutputError::UnknownEnding { file: self.shown() })
    }

    /// How it is called in messages.
    pub fn shown(&self) -> String {
        if self.is_stdout() {
            "standard output".to_owned()
        } else {
            self.path.display().to_string()
        }
    }

    /// The file itself: what a link points to is replaced, not the link.
    fn real_path(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// Writes the bytes that `fill` makes: to a temporary name in the same folder, which is renamed
    /// at the end (that of the stage, if it is on one) and removed on failure. A reader that closes standard output early is no failure.
    pub(super) fn write(
        &self,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
    ) -> Result<(), OutputError> {
        let result = if let Some(memory) = &self.memory {
            let mut bytes = Vec::new();
            fill(&mut bytes).map(|()| *memory.lock() = bytes)
        } else if self.is_stdout() {
            match through(io::stdout(), fill) {
                Err(WriteError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                result => result,
            }
        } else if self.is_special() {
            File::create(&self.path).map_err(WriteError::Io).and_then(|file| through(file, fill))
        } else {
            self.write_whole(fill)
        };
        result.map_err(|error| match error {
            WriteError::Io(error) => OutputError::io(self.shown(), &error),
            WriteError::Cannot { problem, hint } => {
                OutputError::Unsupported { file: self.shown(), problem, hint }
            }
            WriteError::Library(error) => OutputError::Library(error),
        })
    }

    /// Whether the path is a device or a pipe, which cannot be replaced by a file.
    fn is_special(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
    }

    fn write_whole(
        &self,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let path = self.real_path();
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let temporary = TemporaryFile::new(&temporary_names(), folder_of(&path))?;
        through(temporary.file(), fill)?;
        match &self.stage {
            Some(stage) => stage.push(temporary, path),
            None => temporary.keep_for_good(&path)?,
        }
        Ok(())
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// How files are called before they get their names.
fn temporary_names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".consilience-").suffix(".tmp");
    // Temporary files are private by default; results are as readable as any other file.
    #[cfg(unix)]
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(readable);
    builder
}

/// What `fill` may fail with.
#[derive(Debug)]
pub(super) enum WriteError {
    Io(io::Error),
    /// The format cannot hold this.
    Cannot {
        problem: String,
        hint: String,
    },
    Library(consilience::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Io(error)
    }
}

impl From<consilience::Error> for WriteError {
    fn from(error: consilience::Error) -> Self {
        WriteError::Library(error)
    }
}

fn through(
    sink: impl Write + Send,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut writer = BufWriter::with_capacity(1 << 16, sink);
    fill(&mut writer)?;
    writer.flush()?;
    Ok(())
}

/// Compresses what `fill` writes, without the time and the name that gzip would keep.
pub(super) fn gzipped(
    writer: &mut (dyn Write + Send),
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut encoder = GzBuilder::new().mtime(0).write(writer, Compression::default());
    fill(&mut encoder)?;
    encoder.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "old").unwrap();
        let target = Target::new(&path).unwrap();
        let result = target.write(|writer| {
            writer.write_all(b"new")?;
            Err(io::Error::from(io::ErrorKind::StorageFull).into())
        });
        let message = result.unwrap_err().to_string();
        assert!(message.contains("cannot be written: no storage space; nothing was left there"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names_in(folder.path()), ["a.csv"]);
    }

    #[test]
    fn an_existing_file_is_replaced_also_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.csv"), folder.path().join("link.csv"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        Target::new(&link).unwrap().write(|w| Ok(w.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(link.is_symlink());
        assert_eq!(names_in(folder.path()).len(), 2);
    }

    #[test]
    fn staged_files_appear_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("a.csv");
        fs::write(&old, "old").unwrap();
        let write = |stage: &Stage, name: &str| {
            let target = Target::new(folder.path().join(name)).unwrap().on(stage);
            target.write(|w| Ok(w.write_all(b"new")?)).unwrap();
        };
        let given_up = Stage::default();
        write(&given_up, "a.csv");
        write(&given_up, "b.csv");
        assert_eq!(names_in(folder.path()).len(), 3);
        drop(given_up);
        assert_eq!(names_in(folder.path()), ["a.csv"]);
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        let stage = Stage::default();
        write(&stage, "a.csv");
        write(&stage, "b.csv");
        stage.commit().unwrap();
        let mut names = names_in(folder.path());
        names.sort();
        assert_eq!(names, ["a.csv", "b.csv"]);
        assert_eq!(fs::read_to_string(&old).unwrap(), "new");
    }

    #[test]
    fn impossible_places_are_refused_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Target::new(folder.path()), Err(OutputError::Directory { .. })));
        let message = Target::new(folder.path().join("no/a.csv")).err().unwrap().to_string();
        assert!(message.contains("there is no folder"), "{message}");
        let unknown = Target::table(folder.path().join("a.xlsx"));
        assert!(matches!(unknown, Err(OutputError::UnknownEnding { .. })));
    }

    /// Linux has a device that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error() {
        let target = Target::new("/dev/full").unwrap();
        let message = target.write(|w| Ok(w.write_all(b"x")?)).unwrap_err().to_string();
        assert!(message.contains("no space left on device"), "{message}");
    }

    #[test]
    fn results_are_as_readable_as_other_files() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
        Target::new(&ours).unwrap().write(|w| Ok(w.write_all(b"x")?)).unwrap();
        fs::write(&other, "x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }
}
