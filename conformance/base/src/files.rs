//! Files that a user names: replaced at once, and read within limits.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use crate::lock;

/// Maximum size of a configuration, or of a file that one names, in bytes.
pub const MAX_BYTES: u64 = 16 << 20;

/// How long a pipe may take to give its content.
const PIPE_TIME: Duration = Duration::from_secs(10);

/// Files that are being written beside those that they will replace.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Replaces a file at once: a reader sees the old content or the new one, and a crash leaves one of them. A symbolic link is
/// replaced, not followed. The new file has the permissions of the old one.
///
/// # Errors
/// When `write` fails, or the file can't be replaced; the old one then stays.
pub fn replace<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let (beside, file) = create_beside(path)?;
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()?;
    file.get_ref().sync_all()?;
    match std::fs::rename(&beside.0, path) {
        // A file that is mounted, as containers do it, can only be written where it is.
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
            std::fs::copy(&beside.0, path)?;
        }
        renamed => renamed?,
    }
    Ok(())
}

/// Finds out whether a file can be replaced, before the work that gives its content.
///
/// # Errors
/// When it can't.
pub fn check(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    create_beside(path).map(drop)
}

/// Removes what a process that ends now would leave of files that are being written.
pub fn remove_unfinished() {
    for beside in std::mem::take(&mut *lock(&UNFINISHED)) {
        // The process ends, whether or not this works.
        let _ = std::fs::remove_file(beside);
    }
}

/// Creates a file in the same folder, since a rename works within one file system. Its name begins with a dot and does not end
/// as the other does, so that whatever reads all files of the folder, such as `*.prom`, leaves it out.
fn create_beside(path: &Path) -> io::Result<(Unfinished, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("expected the path of a file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    let beside = Unfinished(path.with_file_name(hidden));
    // A process with the same number may have left it. What is there is removed, never followed or written to.
    let _ = std::fs::remove_file(&beside.0);
    // First, since a signal may end the process at any moment.
    lock(&UNFINISHED).insert(beside.0.clone());
    let file = OpenOptions::new().write(true).create_new(true).open(&beside.0)?;
    if let Ok(old) = std::fs::symlink_metadata(path)
        && old.is_file()
    {
        file.set_permissions(old.permissions())?;
    }
    Ok((beside, file))
}

/// A file that is being written beside another one.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It has replaced the other one, or the error that matters is the one before.
        let _ = std::fs::remove_file(&self.0);
        lock(&UNFINISHED).remove(&self.0);
    }
}

/// Reads a file of at most `max` bytes. A pipe has to give its content within ten seconds.
///
/// # Errors
/// When it can't be read, or is longer.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.is_file() {
        return read_within(File::open(path)?, max);
    }
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    // Opening or reading a pipe that nobody writes to takes for ever; the thread is left to it.
    std::thread::spawn(move || sender.send(File::open(path).and_then(|file| read_within(file, max))));
    receiver.recv_timeout(PIPE_TIME).unwrap_or_else(|_| {
        let late = format!("expected content within {} s, found none", PIPE_TIME.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, late))
    })
}

/// Reads a file of at most `max` bytes of UTF-8; see [`read`].
///
/// # Errors
/// As for [`read`], or when it is not UTF-8.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    text(read(path, max)?)
}

/// Reads at most `max` bytes of UTF-8 to the end.
///
/// # Errors
/// When it can't be read, is longer, or is not UTF-8.
pub fn read_text_from(source: impl io::Read, max: u64) -> io::Result<String> {
    text(read_within(source, max)?)
}

/// Puts the path of a file or folder in front of an error.
pub fn named(path: &Path) -> impl Fn(io::Error) -> io::Error + use<> {
    let path = path.display().to_string();
    move |error| io::Error::other(format!("{path}: {error}"))
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "expected text in UTF-8"))
}

fn read_within(source: impl io::Read, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("expected at most {max} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        replace(path, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.prom");
        check(&path).expect("it can be written");
        assert!(!path.exists());
        for text in ["one", "two"] {
            write(&path, text).expect("written");
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
        }
        assert!(replace(&path, |_| Err(io::Error::other("no content"))).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "two");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
        for wrong in [&folder.path().join("missing/a"), folder.path(), Path::new("/")] {
            assert!(write(wrong, "x").is_err() && check(wrong).is_err(), "{}", wrong.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().expect("a folder");
        let [path, other] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&other, "other").expect("written");
        symlink(&other, &path).expect("a link");
        let beside = folder.path().join(format!(".a.{}.tmp", std::process::id()));
        symlink(&other, &beside).expect("a link");
        write(&path, "new").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set");
        write(&path, "newer").expect("written");
        let text = |path: &Path| std::fs::read_to_string(path).expect("a file");
        assert_eq!((text(&path).as_str(), text(&other).as_str()), ("newer", "other"));
        let metadata = std::fs::symlink_metadata(&path).expect("a file");
        assert!(metadata.is_file() && !beside.exists());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "four").expect("written");
        assert_eq!(read_text(&path, 4).expect("text"), "four");
        assert_eq!(read_text(&path, 3).expect_err("too long").to_string(), "expected at most 3 bytes");
        std::fs::write(&path, b"\xff").expect("written");
        assert!(read_text(&path, 4).is_err() && read(&path, 4).is_ok());
        #[cfg(unix)]
        assert_eq!(read(Path::new("/dev/zero"), 9).expect_err("endless").kind(), io::ErrorKind::FileTooLarge);
    }
}
