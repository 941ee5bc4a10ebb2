//! Which server, and who calls.

use std::time::Duration;

use clap::Args;
use outgoing::Timeouts;
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::answered::Answered;
use crate::exit::Exit;
use crate::problem::Problem;

pub const DEFAULT_SERVER: &str = "http://127.0.0.1:7070";

/// Answers longer than this are not read.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

#[derive(Args, Clone, Debug)]
pub struct ServerOptions {
    /// The address of the server
    #[arg(long, value_name = "URL", env = "STEADFAST", default_value = DEFAULT_SERVER)]
    pub server: String,
    /// The token that says who calls
    #[arg(long, env = "STEADFAST_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Who calls, where the server asks for no token
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Print what the server answered, as JSON
    #[arg(long)]
    pub json: bool,
}

/// One server, seen by one principal.
pub struct Client {
    agent: Agent,
    base: String,
    token: Option<String>,
    principal: Option<String>,
}

impl ServerOptions {
    pub fn client(&self) -> Result<Client, Problem> {
        self.client_with(Timeouts { whole: Some(Duration::from_secs(60)), ..Timeouts::default() })
    }

    /// For answers that never end.
    pub fn patient_client(&self) -> Result<Client, Problem> {
        self.client_with(Timeouts { whole: None, ..Timeouts::default() })
    }

    fn client_with(&self, timeouts: Timeouts) -> Result<Client, Problem> {
        let base = self.server.trim_end_matches('/').to_string();
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(Problem::new(format!("`{base}` is no address of a server"))
                .help(format!("write it like `{DEFAULT_SERVER}`")));
        }
        let token = self.token.clone().filter(|token| !token.is_empty());
        if token.is_some() && self.principal.is_some() {
            return Err(Problem::new("the token says who calls already")
                .help("leave out `--as`, or unset STEADFAST_TOKEN"));
        }
        let agent = outgoing::agent(&base, timeouts);
        Ok(Client { agent, base, token, principal: self.principal.clone() })
    }
}

impl Client {
    /// Under this memory is kept: what one principal remembers of one server.
    pub fn identity(&self) -> String {
        let who = match (&self.principal, &self.token) {
            (Some(principal), _) => principal.clone(),
            // the token itself is not written down
            (None, Some(token)) => format!("token {}", super::memory::digest(token)),
            (None, None) => String::new(),
        };
        format!("{} {who}", self.base)
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Result<Answered, Problem> {
        let answer = self.open(path, headers)?;
        self.read(answer)
    }

    /// An answer whose body is read as it comes.
    pub fn open(&self, path: &str, headers: &[(&str, &str)]) -> Result<Response<Body>, Problem> {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        for (name, value) in self.who().iter().copied().chain(headers.iter().copied()) {
            request = request.header(name, value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request.call().map_err(|error| self.unreachable(&error, false))
    }

    pub fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Answered, Problem> {
        let request = self.agent.post(format!("{}{path}", self.base));
        let headers: Vec<_> =
            headers.iter().copied().chain([("content-type", "application/json")]).collect();
        self.send(request, &headers, body.to_string().as_bytes())
    }

    pub fn put(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answered, Problem> {
        let request = self.agent.put(format!("{}{path}", self.base));
        self.send(request, headers, body)
    }

    fn send(
        &self,
        mut request: ureq::RequestBuilder<ureq::typestate::WithBody>,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answered, Problem> {
        for (name, value) in self.who().iter().copied().chain(headers.iter().copied()) {
            request = request.header(name, value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let answer = request.send(body).map_err(|error| self.unreachable(&error, true))?;
        self.read(answer)
    }

    fn who(&self) -> Vec<(&str, &str)> {
        self.principal.iter().map(|name| ("steadfast-as", name.as_str())).collect()
    }

    fn read(&self, mut answer: Response<Body>) -> Result<Answered, Problem> {
        let status = answer.status().as_u16();
        let headers = answer.headers().clone();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| {
            Problem::new(format!("the answer of `{}` broke off: {error}", self.base))
                .exit(Exit::Unknown)
        })?;
        Ok(Answered { status, headers, body })
    }

    /// Whether anything happened is known only if the server was never reached.
    fn unreachable(&self, error: &ureq::Error, changes: bool) -> Problem {
        let never = match error {
            ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_) => {
                true
            }
            ureq::Error::Http(_) | ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
            _ => false,
        };
        let why = match error {
            ureq::Error::Io(error) => crate::problem::reason(error),
            other => other.to_string(),
        };
        let problem = Problem::new(format!("no answer from `{}`: {why}", self.base));
        if never || !changes {
            return problem.help(
                "start a server with `steadfast serve DESIGN`, or name one with `--server URL`",
            );
        }
        problem
            .help("it is not known whether the step was taken; with `--key` it can be asked again")
            .exit(Exit::Unknown)
    }
}
