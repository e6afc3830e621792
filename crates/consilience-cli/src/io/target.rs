//! Where results go: files that appear whole or not at all, and standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};

use super::Format;
use super::error::describe;

/// What can go wrong while a result is written.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("{file}: the ending does not say what kind of file to write; use {}", Format::ENDINGS)]
    UnknownEnding { file: String },

    #[error("{file} is a directory: give the name of a file in it")]
    Directory { file: String },

    #[error("{file} cannot be written: {problem}; nothing was left there")]
    Failed { file: String, problem: String },

    #[error("{file} cannot be written: {problem}; {hint}")]
    Unsupported { file: String, problem: String, hint: String },

    #[error(transparent)]
    Library(#[from] consilience::Error),
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    path: PathBuf,
}

impl Target {
    /// A file, or standard output for `-`.
    ///
    /// Refuses what cannot work before anything is computed: a directory, or a folder that is not
    /// there.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        let target = Target { path: path.into() };
        if target.is_stdout() {
            return Ok(target);
        }
        if target.path.is_dir() {
            return Err(OutputError::Directory { file: target.shown() });
        }
        if !target.folder().is_dir() {
            let problem = format!("there is no folder {}", target.folder().display());
            return Err(OutputError::Failed { file: target.shown(), problem });
        }
        Ok(target)
    }

    /// The same for a table: the ending must tell the format.
    pub(crate) fn table(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        let target = Self::new(path)?;
        target.format()?;
        Ok(target)
    }

    /// Standard output.
    pub(crate) fn stdout() -> Self {
        Target { path: PathBuf::from("-") }
    }

    /// Whether it is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.path == Path::new("-")
    }

    /// The format that the ending tells.
    pub(super) fn format(&self) -> Result<Format, OutputError> {
        Format::of(&self.path).ok_or_else(|| OutputError::UnknownEnding { file: self.shown() })
    }

    /// How it is called in messages.
    pub(super) fn shown(&self) -> String {
        if self.is_stdout() {
            "standard output".to_owned()
        } else {
            self.path.display().to_string()
        }
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    /// Writes the bytes that `fill` makes: to a temporary name in the same folder, which is renamed
    /// at the end and removed on failure. A reader that closes standard output early is no failure.
    pub(super) fn write(
        &self,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
    ) -> Result<(), OutputError> {
        let result = if self.is_stdout() {
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
            WriteError::Io(error) => {
                OutputError::Failed { file: self.shown(), problem: describe(&error) }
            }
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
        // What a link points to is replaced, not the link.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".consilience-").suffix(".tmp");
        // Temporary files are private by default; results are as readable as any other file.
        #[cfg(unix)]
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        #[cfg(unix)]
        builder.permissions(readable);
        let temporary = builder.tempfile_in(folder)?;
        through(temporary.as_file(), fill)?;
        temporary.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }
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
        assert!(message.ends_with("cannot be written: no storage space; nothing was left there"));
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
    fn impossible_places_are_refused_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Target::new(folder.path()), Err(OutputError::Directory { .. })));
        let message = Target::new(folder.path().join("no/a.csv")).unwrap_err().to_string();
        assert!(message.contains("there is no folder"), "{message}");
        let unknown = Target::table(folder.path().join("a.xlsx"));
        assert!(matches!(unknown, Err(OutputError::UnknownEnding { .. })));
    }

    #[test]
    fn a_full_device_is_an_error() {
        if !Path::new("/dev/full").exists() {
            return;
        }
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
