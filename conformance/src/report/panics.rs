use std::io::Write as _;

/// Makes a panic print its place without its message, which may hold a token. A check that panics is an error of the suite in
/// the report, and the run continues.
pub fn hush_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        // Without standard error the panic cannot be reported at all.
        let _ = writeln!(std::io::stderr(), "conformance: panic at {place}; this is a bug of the suite");
    }));
}
