//! Where a store is: `postgres://USER@HOST/DATABASE`, with settings of its own behind a `?`.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::requests::USUAL_SCHEMA;

/// What is not in the address.
const POOL_MAX: usize = 10;
const CONNECT: Duration = Duration::from_secs(5);
/// A connection on which nothing is acknowledged for so long is given up.
const SILENCE: Duration = Duration::from_secs(10);

/// How news of other servers are heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// At the address of the store.
    Here,
    /// At another host and port with the same user and database: past PgBouncer, which forwards no news.
    At(String, u16),
    /// Not at all: the head of the feed is asked for again and again.
    Off,
}

/// The address of a store.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) verify: Verify,
    pub schema: String,
    /// Connections at the same time, besides the one that listens.
    pub pool_max: usize,
    pub listen: Listen,
    shown: String,
}

/// Whether connections are encrypted, and by whom the server is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Not encrypted.
    Off,
    /// By the certificates that the system trusts.
    System,
    /// By those of a file.
    File(PathBuf),
}

impl Address {
    /// An address as it may be shown, also if it is none: without a password and settings.
    pub fn shown(text: &str) -> String {
        match text.split_once("://") {
            Some((scheme @ ("postgres" | "postgresql"), rest)) => {
                let plain = rest.split_once('?').map_or(rest, |(plain, _)| plain);
                format!("{scheme}://{}", without_password(plain))
            }
            _ => text.into(),
        }
    }

    /// Reads an address. What is wrong with it is said without its password.
    pub fn read(text: &str) -> Result<Address, String> {
        let rest = ["postgres://", "postgresql://"].iter().find_map(|it| text.strip_prefix(it));
        let rest = rest.ok_or("it does not begin with `postgres://`")?;
        let (plain, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let mut address = Address {
            config: Config::new(),
            verify: Verify::Off,
            schema: USUAL_SCHEMA.into(),
            pool_max: POOL_MAX,
            listen: Listen::Here,
            shown: without_password(plain),
        };
        let (mut theirs, mut mode, mut roots) = (Vec::new(), None, None);
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            let (name, value) =
                setting.split_once('=').ok_or_else(|| format!("`{setting}` has no value"))?;
            let decoded = decode(value).ok_or_else(|| format!("`{name}` is no text"))?;
            match name {
                "schema" => address.schema = identifier(decoded)?,
                "pool_max" => address.pool_max = number(&decoded)?,
                "listen" => address.listen = listen(&decoded)?,
                "sslmode" => mode = Some(decoded),
                "sslrootcert" => roots = Some(PathBuf::from(decoded)),
                "password" => return Err("the password is not given as a setting".into()),
                _ => theirs.push(setting),
            }
        }
        let settings = if theirs.is_empty() { "" } else { "?" };
        let plain = format!("postgres://{plain}{settings}{}", theirs.join("&"));
        address.config = plain.parse().map_err(|error| crate::failures::told(&error))?;
        address.complete(mode.as_deref(), roots)?;
        Ok(address)
    }

    fn complete(&mut self, mode: Option<&str>, roots: Option<PathBuf>) -> Result<(), String> {
        let config = &mut self.config;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err("it names no host".into());
        }
        if config.get_dbname().is_none() {
            return Err("it names no database".into());
        }
        if config.get_password().is_none()
            && let Some(password) = std::env::var_os("PGPASSWORD")
        {
            config.password(password.as_encoded_bytes());
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("steadfast");
        }
        config.keepalives_idle(SILENCE);
        // a standby would show what was, and take nothing
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let near = config.get_hosts().iter().all(is_here);
        self.verify = match (mode, roots) {
            (Some("disable"), None) => Verify::Off,
            (Some("disable"), Some(_)) => {
                return Err("`sslrootcert` means nothing with `sslmode=disable`".into());
            }
            (None | Some("prefer"), None) if near => Verify::Off,
            (None | Some("prefer" | "require" | "verify-ca" | "verify-full"), roots) => {
                roots.map_or(Verify::System, Verify::File)
            }
            (Some(other), _) => return Err(format!("`sslmode={other}` is not known")),
        };
        let encrypted = self.verify != Verify::Off;
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        Ok(())
    }

    /// Where news are listened for; none: nowhere.
    pub(crate) fn listener(&self) -> Option<Config> {
        match &self.listen {
            Listen::Off => None,
            Listen::Here => Some(self.config.clone()),
            Listen::At(host, port) => {
                let mut config = Config::new();
                config.host(host).port(*port).ssl_mode(self.config.get_ssl_mode());
                config.connect_timeout(CONNECT).tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
                config.application_name("steadfast");
                self.config.get_user().map(|user| config.user(user));
                self.config.get_password().map(|password| config.password(password));
                self.config.get_dbname().map(|name| config.dbname(name));
                Some(config)
            }
        }
    }
}

/// Without its password and settings.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}", self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

fn without_password(plain: &str) -> String {
    match plain.rsplit_once('@') {
        None => plain.into(),
        Some((user, rest)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}@{rest}")
        }
    }
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
    }
}

/// A name that needs no quotes, so that it can be typed into `psql`.
fn identifier(name: String) -> Result<String, String> {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if first && name.len() <= 63 && name.bytes().all(plain) && !name.starts_with("pg_") {
        return Ok(name);
    }
    Err(format!(
        "`schema={name}` is no name of up to 63 lowercase letters, digits and `_` that begins with a letter"
    ))
}

fn number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (2..=1_000).contains(number));
    number.ok_or_else(|| format!("`pool_max={text}` is no number from 2 to 1000"))
}

fn listen(text: &str) -> Result<Listen, String> {
    if text == "off" {
        return Ok(Listen::Off);
    }
    let at = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    match at {
        Some((host, port)) if !host.is_empty() => Ok(Listen::At(host.into(), port)),
        _ => Err(format!("`listen={text}` is neither `off` nor `HOST:PORT`")),
    }
}

/// `%2F` is `/`.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Address {
        Address::read(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn settings_of_its_own_are_taken_out() {
        let address = read(
            "postgres://kim:secret@db.example:6432/shop?schema=tickets&pool_max=4&listen=db.example:5432&connect_timeout=2",
        );
        assert_eq!(address.schema, "tickets");
        assert_eq!(address.pool_max, 4);
        assert_eq!(address.listen, Listen::At("db.example".into(), 5432));
        assert_eq!(address.config.get_ports(), [6432]);
        assert_eq!(address.config.get_connect_timeout(), Some(&Duration::from_secs(2)));
        assert_eq!(address.to_string(), "postgres://kim@db.example:6432/shop");
        assert_eq!(format!("{address:?}"), "postgres://kim@db.example:6432/shop");
        let listener = address.listener().unwrap();
        assert_eq!(listener.get_ports(), [5432]);
        assert_eq!(listener.get_password(), Some(&b"secret"[..]));
    }

    #[test]
    fn what_goes_over_a_network_is_encrypted_and_verified() {
        let verified = |text: &str| read(text).verify;
        assert_eq!(verified("postgres://u@localhost/d"), Verify::Off);
        assert_eq!(verified("postgres://u@127.0.0.1/d"), Verify::Off);
        assert_eq!(verified("postgres://u@%2Frun%2Fpostgresql/d"), Verify::Off);
        assert_eq!(verified("postgres://u@localhost/d?sslmode=require"), Verify::System);
        assert_eq!(verified("postgres://u@db.example/d"), Verify::System);
        assert_eq!(verified("postgres://u@db.example/d?sslmode=require"), Verify::System);
        assert_eq!(verified("postgres://u@db.example/d?sslmode=disable"), Verify::Off);
        let file = verified("postgresql://u@db.example/d?sslrootcert=%2Fetc%2Fca.pem");
        assert_eq!(file, Verify::File("/etc/ca.pem".into()));
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        let refused = |text: &str, why: &str| {
            let said = Address::read(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
            assert!(!said.contains("secret"), "{said}");
        };
        let shown = Address::shown("postgres://u:secret@h/d?password=secret");
        assert_eq!(shown, "postgres://u@h/d");
        assert_eq!(Address::shown("embedded:./data"), "embedded:./data");
        refused("mysql://u@h/d", "does not begin with `postgres://`");
        refused("postgres://u:secret@h", "names no database");
        refused("postgres:///d", "names no host");
        refused("postgres://u@h/d?schema=Shop", "is no name");
        refused("postgres://u@h/d?schema=a;drop", "is no name");
        refused("postgres://u@h/d?pool_max=1", "from 2 to 1000");
        refused("postgres://u@h/d?listen=5432", "neither `off` nor");
        refused("postgres://u@h/d?sslmode=allow", "is not known");
        refused("postgres://u@h/d?pool=3", "pool");
        refused("postgres://u@h/d?schema", "has no value");
        refused("postgres://u:secret@h:x/d", "port");
    }
}
