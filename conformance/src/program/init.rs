use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use sallyport_conformance::config::template;
use sallyport_conformance::files;

use super::UsageError;

pub(crate) fn init(file: &Path, force: bool) -> Result<String, UsageError> {
    if file.exists() && !force {
        return Err(format!("{} already exists; choose another name or pass --force", file.display()).into());
    }
    let text = template();
    let written = if force {
        files::replace(file, |open| open.write_all(text.as_bytes()))
    } else {
        // Another process may have created it since the check above.
        File::create_new(file).and_then(|mut open| open.write_all(text.as_bytes()))
    };
    written.map_err(files::named(file))?;
    Ok(format!(
        "wrote {0}; write base-url into it, set SALLYPORT_API_KEY and see what would run: conformance plan --config {0}\n",
        file.display()
    ))
}
