//! `steadfast serve DESIGN…`

mod differs;
mod greeting;
mod wanted;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use design::model::Design;
use gateway::{Access, Admin, AdminHandle, Budget, Collecting, Limits, Service};
use identity::Identity;
use outgoing::Exporter;
use runtime::Settings;
use serde_json::Value;
use server::Config;
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
use greeting::{first_call, greeting};
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
  steadfast serve payments --outside network=https://network.example/v2
  steadfast serve tickets --listen 0.0.0.0:7070   beyond this machine, with tokens
  steadfast serve shop.design --require holds     only with a verdict
  steadfast serve shop.design --log info          also what happens rarely, such as a replacement
  steadfast serve shop.design --replace           in the place of the version in the store")]
pub struct Serve {
    /// Paths, or names of designs in the catalog
    #[arg(value_name = "DESIGN", required = true)]
    designs: Vec<String>,
    /// Where truth is kept: `embedded:PATH`, or `memory:` to forget it at the end
    #[arg(long, value_name = "URL", default_value = "embedded:./steadfast-data")]
    store: String,
    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070")]
    listen: SocketAddr,
    /// The server's certificate with its chain, in PEM: speaks TLS
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
    /// Tell spans to this collector, as OTLP has them over HTTP, such as `http://localhost:4318`
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp: Option<String>,
    /// Record so many of a thousand traces that begin here; others are recorded as they say
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
    /// Nobody is let in without a token; always so where others than this machine can listen in
    #[arg(long)]
    tokens: bool,
    /// `manual` is for tests: time stands still until `POST /v1/clock` moves it on
    #[arg(long, value_name = "CLOCK", value_enum, default_value_t = ClockKind::System)]
    clock: ClockKind,
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
    /// Leave designs unchecked whose verdict is not known
    #[arg(long)]
    no_background_check: bool,
    #[command(flatten)]
    verdicts: VerdictOptions,
}

impl Serve {
    pub fn run(self, output: &mut Output) -> Answer {
        self.log.begin();
        let mut limits = Limits::default();
        for setting in &self.limit {
            limits.set(setting).map_err(Problem::new)?;
        }
        let mut designs = Vec::new();
        for word in &self.designs {
            let Some(wanted) = Wanted::read(word, output)? else { return Ok(Exit::Wrong) };
            designs.push(wanted);
        }
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
        tell_opened(&self.store, embedded.as_deref());
        let verdicts = Arc::new(self.verdicts.open());
        let rule = Rule { require: self.require, unproved: self.unproved };
        // whatever stands in the way of one of them is found before another is replaced
        for wanted in &mut designs {
            wanted.hold_against(store.as_ref(), &self.store, self.replace, output)?;
            wanted.judge(rule, &verdicts)?;
        }
        for name in left_out(store.as_ref(), &designs) {
            output.tell(&format!("note: the store also holds `{name}`, which is not served\n"));
        }
        let mut settings = Settings::default();
        settings.outbox.attempts_max = leaving.attempts_max;
        let (exporter, spans) = match &self.otlp {
            None => (None, Spans::default()),
            Some(endpoint) => {
                let (exporter, spans) = exporter(endpoint, self.otlp_share)?;
                (Some(exporter), spans)
            }
        };
        let host = Host::new(leaving, embedded, spans.clone(), Arc::clone(&verdicts), self.require);
        let host = Arc::new(host);
        let mut services = Vec::new();
        for wanted in designs {
            let runtime =
                wanted.open(&store, &self.store, (&settings, clock.runtime()), &verdicts)?;
            host.start_beside(&wanted.name, &runtime)?;
            services.push(Service::new(&wanted.name, &wanted.text, runtime).judged(wanted.word));
        }
        let standings: Vec<_> =
            services.iter().map(|service| (service.name.clone(), service.standing())).collect();
        let checking = !self.no_background_check;
        let first = services.iter().find_map(|service| first_call(&service.name, service.design()));
        let access = self.access()?;
        let tokens = access.tokens;
        let config = Config {
            tls: self.tls_cert.zip(self.tls_key),
            listen: self.listen,
            limits,
            access,
            admin: Some(AdminHandle(Arc::clone(&host) as Arc<dyn Admin>)),
            spans,
            clock: clock.manual(),
            collecting: (self.collect_blobs_every > 0).then_some(Collecting {
                every_ms: self.collect_blobs_every,
                grace_ms: self.collect_blobs_grace,
            }),
            checking: checking.then(Budget::default),
        };
        let running = server::start_with(config, services, console::pages)
            .map_err(|error| Problem::new(error.to_string()).help("`--listen` takes another"))?;
        output.print(&greeting(&running.url(), &standings, first.as_ref(), tokens, checking));
        output.flush();
        running.until_signal();
        host.stop();
        clock.close();
        // what was recorded last is told first
        drop((exporter, watch));
        let _ = store::block_on(store.close());
        Ok(Exit::Yes)
    }
}

impl Serve {
    /// Who is let in. Beyond this machine only callers with tokens, whose keys were made before.
    fn access(&self) -> Result<Access, Problem> {
        let elsewhere = !self.listen.ip().is_loopback();
        let tokens = self.tokens || elsewhere;
        let named = self.keys.as_deref();
        if named.is_none() && self.store == "memory:" && !tokens {
            return Ok(Access::default());
        }
        let directory = named.unwrap_or(Path::new("./steadfast-keys"));
        let identity = Identity::open(directory, !elsewhere).map_err(|error| {
            let problem = super::token::problem(error);
            match elsewhere {
                true => problem.help(format!(
                    "`{}` can be reached from elsewhere: callers must be known",
                    self.listen
                )),
                false => problem,
            }
        })?;
        Ok(Access { identity: Some(Arc::new(identity)), tokens })
    }
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

/// How paths call a design: the name of its file without the ending, in lower case.
fn path_name(name: &str) -> String {
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    stem.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_call_a_design_by_its_file() {
        for (name, path) in [("I02.design", "i02"), ("a/b/Shop.design", "shop"), ("x", "x")] {
            assert_eq!(path_name(name), path);
        }
    }
}
