//! Archives that are the same for the same files.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use super::output;

/// Packs the folder `name` of `staged` as a `.tar.gz` into `out`: sorted, without owners and times.
pub(super) fn pack(staged: &Path, name: &str, out: &Path) -> Result<PathBuf, String> {
    let archive = out.join(format!("{name}.tar.gz"));
    let mut command = Command::new("tar");
    command.current_dir(staged).env("GZIP", "-n").args([
        "--sort=name",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=u+rw,go+r-w",
        "--use-compress-program=gzip -n -9",
        "--create",
        "--file",
    ]);
    let archive = std::path::absolute(&archive).map_err(|error| format!("error: {error}\n"))?;
    output(command.arg(&archive).arg(name), "tar (GNU tar is needed)")?;
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_same_files_make_the_same_archive() {
        let folder = ::tempfile::tempdir().unwrap();
        let pack = |at: &str| {
            let staged = folder.path().join(at);
            fs::create_dir_all(staged.join("a/b")).unwrap();
            fs::write(staged.join("a/b/c"), "text").unwrap();
            fs::read(pack(&staged, "a", &staged).unwrap()).unwrap()
        };
        let one = pack("one");
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert_eq!(one, pack("two"));
        let listed =
            output(Command::new("tar").arg("-tzf").arg(folder.path().join("one/a.tar.gz")), "tar").unwrap();
        assert_eq!(listed, "a/\na/b/\na/b/c\n");
        assert!(super::pack(folder.path(), "missing", folder.path()).is_err());
    }
}
