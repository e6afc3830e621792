//! Finished ensemble members, kept on disk so that an interrupted `run` can go on.
//!
//! Each member is one small file in `DIR/.members/`, written whole under a temporary name and then
//! renamed: it is there or it is not, even after a power cut. A file carries the fingerprint of
//! the data and options that made it and a checksum; what does not fit is made again.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use consilience::Error;
use consilience::Matrix;
use consilience::ensemble::{HardMember, Labels, Member, SoftMember};
use consilience::generate::Data;
use consilience::pipeline::{Recipe, Store};
use serde_json::json;

use super::folder::UNFINISHED;
use crate::output::{self, counted};
use consilience_io::Xxh64;
use consilience_io::cleanup::{Duty, TemporaryFile, TemporaryFolder};

const MAGIC: &[u8; 8] = b"cnsmem01";
/// How the files end.
const ENDING: &str = "member";
/// A missing label among the codes.
const MISSING: u32 = u32::MAX;

/// The folder of finished members of one run.
pub(super) struct MemberStore {
    folder: PathBuf,
    fingerprint: u64,
    /// Why a member could not be kept.
    failure: Mutex<Option<anyhow::Error>>,
    /// What is done if the program ends at once.
    _duty: Duty,
}

impl MemberStore {
    /// The members of `dir` made with this fingerprint. Those made with another are removed, and so
    /// are all if `fresh`.
    pub(super) fn open(dir: &Path, fingerprint: u64, fresh: bool) -> anyhow::Result<Self> {
        let folder = dir.join(UNFINISHED);
        let given_up = folder.clone();
        let duty = Duty::new(move || give_up(&given_up));
        let store = MemberStore { folder, fingerprint, failure: Mutex::default(), _duty: duty };
        if store.folder.is_dir() && (fresh || !store.is_ours()) {
            fs::remove_dir_all(&store.folder).with_context(|| store.failed("emptied"))?;
        }
        fs::create_dir_all(&store.folder).with_context(|| store.failed("created"))?;
        Ok(store)
    }

    /// Why the store stopped the making of members, if it did, otherwise `error`.
    pub(super) fn failure_or(&self, error: Error) -> anyhow::Error {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.unwrap_or_else(|| error.into())
    }

    fn keep(&self, i: usize, member: &Member) -> anyhow::Result<()> {
        let write = || -> io::Result<()> {
            let file = TemporaryFile::new(tempfile::Builder::new().prefix(".tmp"), &self.folder)?;
            file.file().write_all(&encode(member, self.fingerprint))?;
            file.keep(&self.path(i))
        };
        write().with_context(|| self.failed("written to"))
    }

    /// A folder to write results in before they are moved to their places. It goes away with the
    /// value.
    pub(super) fn aside(&self) -> anyhow::Result<TemporaryFolder> {
        let aside = TemporaryFolder::new(tempfile::Builder::new().prefix("aside"), &self.folder);
        aside.with_context(|| self.failed("written to"))
    }

    /// Ends without a result: finished members are kept, an empty folder is not.
    pub(super) fn abandon(self) {
        give_up(&self.folder);
    }

    /// Removes all members: the run is complete.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        fs::remove_dir_all(&self.folder).with_context(|| self.failed("removed"))
    }

    fn path(&self, i: usize) -> PathBuf {
        self.folder.join(format!("{i:06}.{ENDING}"))
    }

    /// Whether no stored member carries another fingerprint.
    fn is_ours(&self) -> bool {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return false;
        };
        let mut files = entries.flatten().filter_map(|entry| fs::File::open(entry.path()).ok());
        files.all(|mut file| {
            let mut head = [0; MAGIC.len() + 8];
            // What is too short is damaged, not foreign: that member alone is made again.
            file.read_exact(&mut head).is_err()
                || head[MAGIC.len()..] == self.fingerprint.to_le_bytes()
        })
    }

    fn failed(&self, what: &str) -> String {
        format!("{} cannot be {what}", self.folder.display())
    }
}

impl Store for MemberStore {
    fn load(&self, i: usize) -> Option<Member> {
        decode(&fs::read(self.path(i)).ok()?, self.fingerprint)
    }

    fn save(&self, i: usize, member: Member) -> consilience::Result<Member> {
        if let Err(error) = self.keep(i, &member) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return Err(Error::Cancelled);
        }
        Ok(match member {
            Member::Hard(_) => member,
            // Rows are brought to sum 1 whenever memberships are read: once more than when made.
            Member::Soft(soft) => {
                let (name, clusters) = (soft.name().to_owned(), soft.clusters().to_vec());
                SoftMember::new(name, soft.memberships().clone(), clusters)?.into()
            }
        })
    }
}

/// What identifies an ensemble: the data and all that the members depend on.
pub(super) fn fingerprint(
    recipe: &Recipe,
    looked_for: Option<&str>,
    data: Data<'_>,
    seed: u64,
) -> u64 {
    let mut hash = Xxh64::new();
    let made_by =
        json!([env!("CARGO_PKG_VERSION"), seed, recipe.scale(), recipe.generator, looked_for]);
    hash.update(made_by.to_string().as_bytes());
    hash.update(&[data.nrows(), data.ncols()].map(usize::to_le_bytes).concat());
    match data {
        Data::Dense(data) => hash.update_numbers(data.as_slice()),
        // Their members are those of the same numbers in double precision.
        Data::Single(data) => {
            data.as_slice().iter().for_each(|&x| hash.update_numbers(&[f64::from(x)]));
        }
        Data::Sparse(data) => {
            for i in 0..data.nrows() {
                let (columns, values) = data.row(i);
                hash.update(&columns.len().to_le_bytes());
                columns.iter().for_each(|j| hash.update(&j.to_le_bytes()));
                hash.update_numbers(values);
            }
        }
    }
    hash.finish()
}

/// Tells how many members are finished and kept; leaves no empty folder, nor the one around it.
fn give_up(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let finished = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|e| e == ENDING);
    match entries.filter(finished).count() {
        // What cannot be removed does no harm.
        0 => {
            let _ = fs::remove_dir_all(folder);
            folder.parent().map(fs::remove_dir);
        }
        kept => output::note(&format!(
            "{} finished and kept: the same command goes on from there",
            counted(kept, "clustering")
        )),
    }
}

fn encode(member: &Member, fingerprint: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(fingerprint.to_le_bytes());
    bytes.push(u8::from(member.is_hard()));
    put_text(&mut bytes, member.name());
    put_number(&mut bytes, member.clusters().len());
    member.clusters().iter().for_each(|name| put_text(&mut bytes, name));
    put_number(&mut bytes, member.n_objects());
    match member {
        Member::Hard(hard) => {
            let code = |label: Option<usize>| label.map_or(MISSING, |c| c as u32);
            hard.labels().iter().for_each(|label| bytes.extend(code(label).to_le_bytes()));
        }
        Member::Soft(soft) => {
            soft.memberships().as_slice().iter().for_each(|p| bytes.extend(p.to_le_bytes()));
        }
    }
    let mut checksum = Xxh64::new();
    checksum.update(&bytes);
    bytes.extend(checksum.finish().to_le_bytes());
    bytes
}

/// The member in `bytes`; `None` if they are damaged or of another run.
fn decode(bytes: &[u8], fingerprint: u64) -> Option<Member> {
    let (bytes, checksum) = bytes.split_last_chunk()?;
    let mut seen = Xxh64::new();
    seen.update(bytes);
    if seen.finish() != u64::from_le_bytes(*checksum) {
        return None;
    }
    let mut rest = bytes.strip_prefix(MAGIC)?;
    if u64::from_le_bytes(take(&mut rest)?) != fingerprint {
        return None;
    }
    let [is_hard] = take(&mut rest)?;
    let name = take_text(&mut rest)?;
    let k = take_number(&mut rest)?;
    let clusters = (0..k).map(|_| take_text(&mut rest)).collect::<Option<Vec<_>>>()?;
    let n = take_number(&mut rest)?;
    if is_hard == 1 {
        let codes = (0..n).map(|_| match u32::from_le_bytes(take(&mut rest)?) {
            MISSING => Some(None),
            code => Some(Some(code as usize).filter(|&code| code < k)).filter(Option::is_some),
        });
        let codes = codes.collect::<Option<Vec<Option<usize>>>>()?;
        let labels = Labels::from_indices(k, codes.into_iter());
        return HardMember::from_codes(name, labels, clusters).ok().map(Member::from);
    }
    let values = (0..n.checked_mul(k)?).map(|_| Some(f64::from_le_bytes(take(&mut rest)?)));
    let values = values.collect::<Option<Vec<_>>>()?;
    SoftMember::new(name, Matrix::from_vec(n, k, values), clusters).ok().map(Member::from)
}

fn put_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u64).to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len());
    bytes.extend(text.as_bytes());
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(take(rest)?)).ok()
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    let len = take_number(rest)?;
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    String::from_utf8(head.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use consilience::ensemble::HardMember;

    use super::*;

    fn hard() -> Member {
        HardMember::from_integers("one", [Some(4), None, Some(2), Some(4)]).into()
    }

    fn soft() -> Member {
        let third = 1.0 / 3.0;
        let rows = Matrix::from_vec(2, 3, vec![third, third, third, 0.0, 0.3, 0.7]);
        SoftMember::new("two", rows, ["a", "b", "c"].map(str::to_owned).to_vec()).unwrap().into()
    }

    #[test]
    fn members_come_back() {
        for member in [hard(), soft()] {
            assert_eq!(decode(&encode(&member, 7), 7), Some(member));
        }
    }

    #[test]
    fn damaged_and_foreign_members_do_not() {
        for member in [hard(), soft()] {
            let bytes = encode(&member, 7);
            assert_eq!(decode(&bytes, 8), None, "another fingerprint");
            for end in 0..bytes.len() {
                assert_eq!(decode(&bytes[..end], 7), None, "cut at {end}");
                let mut flipped = bytes.clone();
                flipped[end] ^= 1;
                assert_eq!(decode(&flipped, 7), None, "bit {end}");
            }
        }
    }

    #[test]
    fn a_stored_member_goes_on_with_the_same_bits_as_a_fresh_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = MemberStore::open(dir.path(), 7, false).unwrap();
        let fresh = store.save(3, soft()).unwrap();
        assert_eq!(store.load(3), Some(fresh));
        assert_eq!(store.load(4), None);
    }

    #[test]
    fn another_run_or_a_fresh_start_empties_the_store() {
        let dir = tempfile::tempdir().unwrap();
        let open = |fingerprint, fresh| MemberStore::open(dir.path(), fingerprint, fresh).unwrap();
        open(7, false).save(0, hard()).unwrap();
        assert!(open(7, false).load(0).is_some());
        assert!(open(7, true).load(0).is_none());
        open(7, false).save(0, hard()).unwrap();
        assert!(open(8, false).load(0).is_none());
        assert!(open(7, false).load(0).is_none());
        let store = open(7, false);
        store.remove().unwrap();
        assert!(!dir.path().join(".members").exists());
    }
}
