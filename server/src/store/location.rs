//! The location of a database: a file, or a PostgreSQL server.

use std::{ffi::OsStr, fmt, net::IpAddr, path::PathBuf, str::FromStr, sync::Arc};

use tokio_postgres::{Config, config::Host};

use super::{
    OpenError, OpenMode, Store,
    postgres::{Limits, Postgres},
};

/// The schemes of a URL of a PostgreSQL server.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The location of a database: `postgres://user:password@host/database`, or else the path of a file. `Display` and `Debug` leave
/// out the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A database on a PostgreSQL server, or on another one that speaks its protocol.
    Postgres(Box<Config>),
}

/// Why a text is not a location. The text is not quoted, because it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a file or postgres://user:password@host/database for the database, found {0}")]
pub struct LocationError(&'static str);

impl Location {
    /// Opens the database and brings its schema up to date.
    pub async fn open(&self, mode: OpenMode) -> Result<Arc<Store>, OpenError> {
        self.open_within(mode, Limits::default()).await
    }

    /// The same with these limits, where the database is a server's.
    pub async fn open_within(&self, mode: OpenMode, limits: Limits) -> Result<Arc<Store>, OpenError> {
        let opened = match self {
            Self::File(path) => Store::open(path, mode)?,
            Self::Postgres(config) => Postgres::connect(config, mode, limits)
                .await
                .map(Store::new)
                .map_err(|reason| OpenError { database: self.to_string(), reason })?,
        };
        Ok(Arc::new(opened))
    }
}

impl TryFrom<&OsStr> for Location {
    type Error = LocationError;

    fn try_from(text: &OsStr) -> Result<Self, Self::Error> {
        match text.to_str() {
            Some("") => Err(LocationError("an empty text")),
            Some(url) if SCHEMES.iter().any(|scheme| url.starts_with(scheme)) => postgres(url),
            // A misspelled URL and the `key=value` form are not paths, because messages name the path of a file.
            _ if is_path(text.as_encoded_bytes()) => Ok(Self::File(text.into())),
            _ => Err(LocationError(
                "another form (a file with `:`, `=` or `@` in its name is written with its folder, as in ./a=b.db)",
            )),
        }
    }
}

fn postgres(url: &str) -> Result<Location, LocationError> {
    // The parser takes what follows the first `@` for a host, so that the rest of a password would be shown.
    if url.matches('@').count() > 1 {
        return Err(LocationError("a URL with more than one `@` (in the password it is written as %40)"));
    }
    // The parser's message may quote parts of the text.
    let config: Config = url.parse().map_err(|_| {
        LocationError(
            "a URL with a part that cannot be read (a special character of the password is written as % and two \
             hexadecimal digits, `@` as %40)",
        )
    })?;
    if config.get_hosts().is_empty() {
        return Err(LocationError("a URL without host"));
    }
    if config.get_dbname().is_none_or(str::is_empty) {
        return Err(LocationError("a URL without database name after the host"));
    }
    Ok(Location::Postgres(Box::new(config)))
}

/// Whether every server is on this machine. Both `host` and `hostaddr`, the address that is connected to, must be local.
pub(super) fn is_local(config: &Config) -> bool {
    let is_local = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
    };
    config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn is_path(text: &[u8]) -> bool {
    matches!(text, [b'/' | b'.', ..]) || !text.iter().any(|byte| b":=@".contains(byte))
}

impl FromStr for Location {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(OsStr::new(text))
    }
}

/// A text that is a location again, once the password is added.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = match self {
            Self::File(path) => return path.display().fmt(f),
            Self::Postgres(config) => config,
        };
        f.write_str(SCHEMES[0])?;
        if let Some(user) = config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = config.get_ports();
        for (place, host) in config.get_hosts().iter().enumerate() {
            f.write_str(if place == 0 { "" } else { "," })?;
            match host {
                Host::Tcp(name) if name.contains(':') => write!(f, "[{name}]")?,
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(path) => f.write_str(&path.to_string_lossy().replace('/', "%2F"))?,
            }
            // One port is for all hosts.
            let port = ports.get(place).or(ports.first()).copied().unwrap_or(5432);
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", config.get_dbname().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_files_are_distinguished() {
        for file in
            ["real.db", "/var/lib/postgres", "postgres.db", "-", "./a=b.db", "/srv/a@b:c.db", "../x:y"]
        {
            assert_eq!(Location::try_from(OsStr::new(file)).unwrap(), Location::File(file.into()));
        }
        for url in ["postgres://acme@db.invalid/sallyport", "postgresql://db.invalid:5433/x"] {
            assert!(matches!(url.parse(), Ok(Location::Postgres(_))), "{url}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://acme:very-secret@db.invalid/sallyport", "postgres://acme@db.invalid:5432/sallyport"),
            ("postgresql://a:very-secret@[::1]:5433,h/x", "postgres://a@[::1]:5433,h:5432/x"),
            ("postgres://a:very%40secret@%2Frun%2Fpg:5433/x", "postgres://a@%2Frun%2Fpg:5433/x"),
            ("postgres://db.invalid/x?user=a&password=very-secret", "postgres://a@db.invalid:5432/x"),
        ] {
            let location: Location = url.parse().unwrap();
            assert_eq!(location.to_string(), shown);
            assert!(!format!("{location:?}").contains("secret"));
        }
        for bad in
            ["", " postgres://acme:very-secret@db.invalid/x", "host=db.invalid password=very-secret dbname=x"]
        {
            let error = bad.parse::<Location>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("very-secret"), "{error}");
        }
    }

    #[test]
    fn a_url_that_is_not_unicode_is_not_a_path() {
        let bytes = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes;
        assert!(Location::try_from(bytes(b"postgres://acme:very-secret\xff@db.invalid/x")).is_err());
        assert!(matches!(Location::try_from(bytes(b"real\xff.db")), Ok(Location::File(_))));
    }

    #[test]
    fn plain_connections_stay_on_this_machine() {
        for (url, local) in [
            ("postgres://localhost/x", true),
            ("postgres://127.0.0.1:5433/x", true),
            ("postgres://a@%2Frun%2Fpostgresql/x", true),
            ("postgres://db.invalid/x", false),
            ("postgres://localhost,db.invalid/x", false),
            ("postgres://192.0.2.1/x", false),
            // `hostaddr` is the address that is connected to.
            ("postgres://localhost/x?hostaddr=127.0.0.1", true),
            ("postgres://localhost/x?hostaddr=::1", true),
            ("postgres://localhost/x?hostaddr=192.0.2.1", false),
            ("postgres://localhost/x?hostaddr=2001:db8::1", false),
            ("postgres://127.0.0.1/x?hostaddr=192.0.2.1", false),
            ("postgres://localhost,127.0.0.1/x?hostaddr=127.0.0.1,::1", true),
            ("postgres://localhost,127.0.0.1/x?hostaddr=127.0.0.1,192.0.2.1", false),
            ("postgres://a@%2Frun%2Fpostgresql/x?hostaddr=192.0.2.1", false),
            ("postgres://db.invalid/x?hostaddr=127.0.0.1", false),
            ("postgres://localhost/x?host=db.invalid", false),
            ("postgresql:///x?host=localhost&hostaddr=192.0.2.1", false),
        ] {
            assert_eq!(is_local(&url.parse().unwrap()), local, "{url}");
        }
    }
}
