//! `steadfast serve DESIGN…`

mod apps;
mod differs;
mod finder;
mod greeting;
mod oidc;
mod shelf;
mod up;
mod wanted;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use design::model::Design;
use gateway::{Access, Admin, AdminHandle, Budget, Collecting, Limits, SecretKeys, Service};
use identity::Identity;
use outgoing::Exporter;
use runtime::{Process, Secrets, Settings};
use serde_json::Value;
use server::{Config, Origin, Origins, StartError};
use store_embedded::{Embedded, Statistics};
use telemetry::{Resource, Spans};

use super::Answer;
use super::clock::ClockKind;
use super::host::Host;
use super::outgoing_options::OutgoingOptions;
use super::store_watch::StoreWatch;
use crate::exit::Exit;
use crate::log::Level;
use crate::output::Output;
use crate::problem::Problem;
use crate::verdicts::{Require, Rule, VerdictOptions};
use finder::finder;
use greeting::greeting;
pub use greeting::style;
use oidc::OidcOptions;
pub use up::Up;
use wanted::{Wanted, left_out};

/// Run designs, and serve them over HTTP
///
/// Prints the address, the console's address and a first command to type. What was answered is
/// durable in the store, and is there again when the server is started again.
///
/// A design that is violated is not served, and one that was not checked is checked beside the server.
/// Exits 1 when a design is violated or the store holds another version of it, 3 when a verdict is
/// required and is not known, 4 when the store failed while it served, 5 when its files are damaged,
/// missing or foreign.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast serve tickets
  steadfast serve shop.design --store embedded:./shop-data --listen 127.0.0.1:8080
  steadfast serve tickets --store memory: --limit body_bytes_max=65536
  steadfast serve shop.design --store postgres://shop@db.example/shop    one of several servers
  steadfast serve payments --outside network=https://network.example/v2
  steadfast serve tickets --listen 0.0.0.0:7070   beyond this machine, with tokens
  steadfast serve tickets --tokens --origin https://app.example    pages of another server may call
  steadfast serve shop.design --require holds     only with a verdict
  steadfast serve shop.design --log info          also what happens rarely, such as a replacement
  steadfast serve shop.design --replace           in the place of the version in the store")]
pub struct Serve {
    /// Paths, or names of designs in the catalog
    #[arg(value_name = "DESIGN", required = true)]
    designs: Vec<String>,
    /// Where truth is kept: `embedded:PATH`, `postgres://USER@HOST/DATABASE` for several servers, or `memory:` to forget it
    /// at the end
    #[arg(long, value_name = "URL", default_value = "embedded:./steadfast-data")]
    store: String,
    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070")]
    listen: SocketAddr,
    /// The server's certificate with its chain, in PEM; turns TLS on
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A limit other than its default, such as `body_bytes_max=65536`
    #[arg(long, value_name = "NAME=VALUE")]
    limit: Vec<String>,
    #[command(flatten)]
    outgoing: OutgoingOptions,
    /// Send spans to this OpenTelemetry collector, by OTLP over HTTP: `http://localhost:4318`
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp: Option<String>,
    /// Of 1,000 traces that begin at this server record this many; one from elsewhere says itself whether to
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    otlp_share: u32,
    /// How often content is taken away that nothing refers to; `0s`: never
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = milliseconds)]
    collect_blobs_every: u64,
    /// Content is left alone for so long after it was stored, so that a step can refer to it
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = milliseconds)]
    collect_blobs_grace: u64,
    /// What is told on the error output, a line for each event
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = Level::Warn)]
    log: Level,
    /// Require a token from every caller; always on where other machines can connect
    #[arg(long)]
    tokens: bool,
    /// `manual` is for tests: time stands still until `POST /v1/clock` moves it on
    #[arg(long, value_name = "CLOCK", value_enum, default_value_t = ClockKind::System)]
    clock: ClockKind,
    /// Pages of this origin may call, with a token that they hold: `https://app.example`. May be given several times
    #[arg(long, value_name = "ORIGIN", value_parser = Origin::read)]
    origin: Vec<Origin>,
    #[command(flatten)]
    oidc: OidcOptions,
    /// The directory of keys: `./steadfast-keys`, or with `--store memory:` none
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Serve only designs whose verdict says so; a design that was not checked is checked first
    #[arg(long, value_enum, value_name = "WORD", conflicts_with = "unproved")]
    require: Option<Require>,
    /// Serve a design also if it is violated
    #[arg(long)]
    unproved: bool,
    /// Put these texts in the place of other versions that the store holds
    #[arg(long)]
    replace: bool,
    /// Do not check designs in the background
    #[arg(long)]
    no_background_check: bool,
    #[command(flatten)]
    verdicts: VerdictOptions,
    /// Whoever started it tells of verdicts
    #[arg(skip)]
    silent: bool,
}

/// What `--collect-blobs-every` and `--collect-blobs-grace` are by default.
const COLLECT_EVERY_MS: u64 = 600_000;
const COLLECT_GRACE_MS: u64 = 3_600_000;

impl Serve {
    pub fn run(self, output: &mut Output) -> Answer {
        let Some(up) = self.start(output)? else { return Ok(Exit::Wrong) };
        let tokens = up.tokens.then_some(up.keys.as_path());
        output.print(&greeting(
            &up.url(),
            &up.standings(),
            up.first().as_ref(),
            tokens,
            up.checking,
        ));
        output.flush();
        up.until_signal(|_| {});
        Ok(Exit::Yes)
    }

    /// As `steadfast dev` serves: whatever compiles, in the place of what the store holds, for this
    /// machine alone.
    pub fn for_development(of: Development) -> Serve {
        let Development { designs, store, keys, listen, outgoing, verdicts } = of;
        Serve {
            designs,
            store,
            listen,
            tls_cert: None,
            tls_key: None,
            limit: Vec::new(),
            outgoing,
            otlp: None,
            otlp_share: 0,
            collect_blobs_every: COLLECT_EVERY_MS,
            collect_blobs_grace: COLLECT_GRACE_MS,
            log: Level::Warn,
            tokens: false,
            origin: Vec::new(),
            oidc: OidcOptions::default(),
            clock: ClockKind::System,
            keys,
            require: None,
            unproved: true,
            replace: true,
            no_background_check: false,
            verdicts,
            silent: true,
        }
    }

    /// Reads the designs, opens the store and listens. None: a design does not compile, and why has
    /// been told.
    pub fn start(self, output: &mut Output) -> Result<Option<Up>, Problem> {
        self.log.begin();
        let mut limits = Limits::default();
        for setting in &self.limit {
            limits.set(setting).map_err(Problem::new)?;
        }
        let mut designs = Vec::new();
        for word in &self.designs {
            let Some(wanted) = Wanted::read(word, output)? else { return Ok(None) };
            designs.push(wanted);
        }
        told_apart(&designs)?;
        heard_well(&designs)?;
        let all: Vec<&Design> = designs.iter().map(|wanted| &wanted.design).collect();
        let leaving = self.outgoing.read(&all)?;
        let clock =
            self.clock.open(&self.store, self.listen, designs.iter().map(|it| &*it.name))?;
        let (store, embedded) = steadfast::open_copyable(&self.store).map_err(|error| {
            let exit = if error.damaged { Exit::StoreRefused } else { Exit::Wrong };
            Problem::new(error.message).help(error.help).exit(exit)
        })?;
        let watch = embedded.as_ref().map(|embedded| StoreWatch::start(Arc::clone(embedded)));
        let watch = watch.transpose();
        let watch = watch.map_err(|error| Problem::new(format!("cannot watch: {error}")))?;
        for note in embedded.iter().flat_map(|embedded| embedded.notes()) {
            output.tell(&format!("note: {note}\n"));
        }
        let shown = steadfast::shown_store(&self.store);
        tell_opened(&shown, embedded.as_deref());
        let verdicts = Arc::new(self.verdicts.open());
        let rule = Rule { require: self.require, unproved: self.unproved };
        // whatever stands in the way of one of them is found before another is replaced
        for wanted in &mut designs {
            wanted.hold_against(store.as_ref(), &shown, self.replace, output)?;
            wanted.judge(rule, &verdicts)?;
        }
        for name in left_out(store.as_ref(), &designs) {
            output.tell(&format!("note: the store also holds `{name}`, which is not served\n"));
        }
        let access = self.access()?;
        let mut settings = Settings { secrets: Some(secrets(&access)?), ..Settings::default() };
        settings.outbox.attempts_max = leaving.attempts_max;
        settings.search = steadfast::open_search(&self.store);
        let process = Arc::new(this_process(&settings));
        settings.process = Some(Arc::clone(&process));
        let (exporter, spans) = match &self.otlp {
            None => (None, Spans::default()),
            Some(endpoint) => {
                let (exporter, spans) = exporter(endpoint, self.otlp_share)?;
                (Some(exporter), spans)
            }
        };
        let host = Host::new(
            leaving,
            (&self.store, embedded),
            spans.clone(),
            Arc::clone(&verdicts),
            self.require,
        );
        let host = Arc::new(host.silent(self.silent));
        let apps = apps::apps(&designs);
        let mut services = Vec::new();
        let mut opened = Vec::new();
        for wanted in &designs {
            opened.push(wanted.open(&store, &shown, (&settings, clock.runtime()), &verdicts)?);
        }
        // before anything happens in one of them
        host.link(&opened)?;
        for (wanted, runtime) in designs.into_iter().zip(opened) {
            host.start_beside(&wanted.name, &runtime)?;
            services.push(Service::new(&wanted.name, &wanted.text, runtime).judged(wanted.word));
        }
        let checking = !self.no_background_check;
        let shared = store.local().is_none();
        let (tokens, keys) = (access.tokens, self.keys_directory().to_path_buf());
        let config = Config {
            tls: self.tls_cert.zip(self.tls_key),
            listen: self.listen,
            limits,
            access,
            admin: Some(AdminHandle(Arc::clone(&host) as Arc<dyn Admin>)),
            spans,
            clock: clock.manual(),
            // what one server does not refer to another may
            collecting: (self.collect_blobs_every > 0 && !shared).then_some(Collecting {
                every_ms: self.collect_blobs_every,
                grace_ms: self.collect_blobs_grace,
            }),
            checking: checking.then(Budget::default),
            origins: Origins::new(self.origin),
        };
        let running = server::start_with(
            config,
            services,
            console::pages_with(finder(), shelf::shelf(), apps),
        )
        .map_err(not_started)?;
        process.listens_at(running.url());
        Ok(Some(Up { running, host, clock, exporter, watch, store, tokens, keys, checking }))
    }
}

impl Serve {
    /// Who is let in. Beyond this machine only callers with tokens, whose keys were made before.
    fn access(&self) -> Result<Access, Problem> {
        let elsewhere = !self.listen.ip().is_loopback();
        // whoever names an issuer wants callers to be known
        let tokens = self.tokens || elsewhere || self.oidc.is_given();
        let named = self.keys.as_deref();
        if named.is_none() && self.store == "memory:" && !tokens {
            return Ok(Access::default());
        }
        let identity = Identity::open(self.keys_directory(), !elsewhere).map_err(|error| {
            let problem = super::token::problem(error);
            match elsewhere {
                true => problem.help(format!(
                    "`{}` can be reached from elsewhere: callers must be known",
                    self.listen
                )),
                false => problem,
            }
        })?;
        Ok(Access { identity: Some(Arc::new(identity)), tokens, issuer: self.oidc.start()? })
    }
}

/// The keys that designs keep their secrets with: those of the directory, or as long as the process lives.
fn secrets(access: &Access) -> Result<Arc<dyn Secrets>, Problem> {
    let identity = match &access.identity {
        Some(identity) => Arc::clone(identity),
        None => Arc::new(Identity::in_memory().map_err(super::token::problem)?),
    };
    Ok(Arc::new(SecretKeys(identity)))
}

/// What other servers of the same store are told of this one.
fn this_process(settings: &Settings) -> Process {
    let surroundings = &settings.surroundings;
    // there is no such file elsewhere than on Linux, and the address says enough
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let since = i64::try_from(surroundings.time_ms()).unwrap_or_default();
    let (number, version) = (surroundings.chance(), env!("CARGO_PKG_VERSION"));
    Process::new(number, host.trim().into(), version.into(), since)
}

/// Designs that are served together agree on the events that they hear of each other.
fn heard_well(designs: &[Wanted]) -> Result<(), Problem> {
    for listener in designs {
        for emitter in designs {
            let misheard = design::misheard(&listener.design, &emitter.design);
            let Some(first) = misheard.first() else { continue };
            let message = format!("in `{}`: {} [{}]", listener.name, first.message, first.code);
            return Err(Problem::new(message).help(first.help.clone()));
        }
    }
    Ok(())
}

/// What recovery came to.
fn tell_opened(store: &str, embedded: Option<&Embedded>) {
    let Some(embedded) = embedded else { return };
    let Statistics { records, snapshot_position, cut_bytes, .. } = embedded.statistics();
    tracing::info!(store, records, snapshot_position, "the store was recovered");
    if cut_bytes > 0 {
        tracing::info!(
            store,
            bytes = cut_bytes,
            "the log ended in a batch that was never answered, which was cut off",
        );
    }
}

impl Serve {
    fn keys_directory(&self) -> &Path {
        self.keys.as_deref().unwrap_or(Path::new(super::token::USUAL_KEYS))
    }
}

/// What `steadfast dev` decides.
pub struct Development {
    pub designs: Vec<String>,
    pub store: String,
    pub keys: Option<PathBuf>,
    pub listen: SocketAddr,
    pub outgoing: OutgoingOptions,
    pub verdicts: VerdictOptions,
}

/// Two designs whose paths would be the same, or what is stored of them.
fn told_apart(designs: &[Wanted]) -> Result<(), Problem> {
    for (at, wanted) in designs.iter().enumerate() {
        let name = &wanted.name;
        if designs[..at].iter().any(|earlier| earlier.name == *name) {
            return Err(Problem::new(format!("two designs are called `{name}`"))
                .help("a design is called by its file: copy one of the two to another file name"));
        }
        let stored = &wanted.design.name;
        if let Some(earlier) = designs[..at].iter().find(|earlier| earlier.design.name == *stored) {
            let message =
                format!("`{}` and `{name}` both begin with `design {stored}`", earlier.name);
            return Err(Problem::new(message)
                .help("what is stored is called by that name: write another one in one of the two")
                .help("to serve the newer one in the place of the older, name it alone, with `--replace`"));
        }
    }
    Ok(())
}

fn not_started(error: StartError) -> Problem {
    let problem = Problem::new(error.to_string());
    match error {
        StartError::Listen(address, _) => problem
            .help(format!("`--listen {}:0` takes any port that is free", address.ip()))
            .help("another server may be running here already"),
        _ => problem,
    }
}

/// `10m`, `90s`, `1500ms`.
fn milliseconds(text: &str) -> Result<u64, String> {
    let read = runtime::time::read_duration(&Value::String(text.into()));
    read.and_then(|ms| u64::try_from(ms).ok())
        .ok_or_else(|| format!("`{text}` is no time such as `10m`, `90s` or `1500ms`"))
}

/// Whoever tells spans to a collector.
fn exporter(endpoint: &str, share: u32) -> Result<(Exporter, Spans), Problem> {
    outgoing::subscription(endpoint, &[]).map_err(Problem::new)?;
    let service = std::env::var("OTEL_SERVICE_NAME").unwrap_or_else(|_| "steadfast".to_string());
    let version = env!("CARGO_PKG_VERSION").to_string();
    Exporter::start(endpoint, Resource { service, version }, share)
        .map_err(|error| Problem::new(format!("cannot start threads: {error}")))
}
