//! One exchange with a server, and what its refusals mean.
//!
//! Nothing a server says is repeated: it may hold the key or the text. A redirect is not followed: it
//! would take the key and the texts somewhere that nobody named.

use std::io::ErrorKind;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use http::{StatusCode, Uri};
use mmw_store::embed::EmbedError;
use ureq::{Agent, Proxy, ProxyProtocol, Timeout};

use super::endpoint::{Endpoint, Hidden};
use super::settings::Remote;
use super::wire::is_about_length;
use crate::outgoing;

/// How long a connection may take to be made.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// How long an exchange may take if its own deadline is not clearly earlier.
const USUAL_DEADLINE: Duration = Duration::from_secs(60);

/// What is read of a refusal, in bytes: enough to see what it is about.
const MAX_REFUSAL_BYTES: u64 = 16 << 10;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Later there may be one.
    Later {
        why: String,
        /// How long the server wants to be left alone.
        wait: Option<Duration>,
        /// Whether asking again at once makes sense.
        is_worth_a_try: bool,
    },
    /// It was too much at once: too many texts, or too long ones.
    TooMuch,
    /// There will be none until somebody changes something.
    Never(String),
    /// This text has a vector without direction.
    NoVector(usize),
    /// This text does not fit the model, however it is cut; it has about so many tokens.
    TooLong(usize, usize),
}

/// What a server answered.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    headers: HeaderMap,
}

/// A server that is spoken to.
pub(super) struct Http {
    agent: Agent,
    endpoint: Endpoint,
    authorization: Option<HeaderValue>,
}

/// Tells whether an address is one of the exceptions from the proxy, as `NO_PROXY` lists them.
pub(super) fn is_past_proxy(endpoint: &Endpoint, exceptions: &str) -> bool {
    let mut proxy = Proxy::builder(ProxyProtocol::Http);
    for exception in exceptions.split(',').map(str::trim) {
        if !exception.is_empty() {
            proxy = proxy.no_proxy(exception);
        }
    }
    let Ok(uri) = endpoint.origin().parse::<Uri>() else {
        return false;
    };
    proxy.build().is_ok_and(|proxy| proxy.is_no_proxy(&uri))
}

impl Http {
    pub(super) fn new(remote: &Remote) -> Result<Self, EmbedError> {
        let proxy = remote
            .proxy
            .as_ref()
            .map(|proxy| Proxy::new(proxy.reveal()));
        let proxy = proxy.transpose().map_err(|_| {
            EmbedError::Unusable(
                "the proxy that the environment names is no address of one".to_owned(),
            )
        })?;
        let authorization = remote.key.as_ref().map(bearer).transpose()?;
        let config = outgoing::careful()
            .proxy(proxy)
            .user_agent(concat!("mmw/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_DEADLINE))
            .timeout_global(Some(USUAL_DEADLINE))
            .build();
        Ok(Self {
            agent: config.new_agent(),
            endpoint: remote.endpoint.clone(),
            authorization,
        })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Asks for a page. Any status is an answer here.
    pub(super) fn get(
        &self,
        url: &str,
        max_bytes: u64,
        deadline: Duration,
    ) -> Result<Reply, Refusal> {
        let mut request = self.agent.get(url);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let request = within(request, deadline);
        self.reply(request.call(), max_bytes, deadline)
    }

    /// Sends texts and returns the body of the answer.
    pub(super) fn post(
        &self,
        body: &[u8],
        max_bytes: u64,
        deadline: Duration,
    ) -> Result<Vec<u8>, Refusal> {
        let mut request = self
            .agent
            .post(self.endpoint.embeddings())
            .header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let request = within(request, deadline);
        let reply = self.reply(request.send(body), max_bytes, deadline)?;
        self.judge(reply)
    }

    fn reply(
        &self,
        answer: Result<http::Response<ureq::Body>, ureq::Error>,
        max_bytes: u64,
        deadline: Duration,
    ) -> Result<Reply, Refusal> {
        let (parts, mut body) = answer
            .map_err(|error| self.failure(&error, deadline))?
            .into_parts();
        let body = if parts.status.is_success() {
            let read = body.with_config().limit(max_bytes).read_to_vec();
            read.map_err(|error| self.failure(&error, deadline))?
        } else {
            let read = body.with_config().limit(MAX_REFUSAL_BYTES).read_to_vec();
            read.unwrap_or_default()
        };
        Ok(Reply {
            status: parts.status,
            body,
            headers: parts.headers,
        })
    }

    /// Returns the body of an answer that is one, or what its status means.
    pub(super) fn judge(&self, reply: Reply) -> Result<Vec<u8>, Refusal> {
        let Reply {
            status,
            body,
            headers,
        } = reply;
        let place = &self.endpoint;
        let n = status.as_u16();
        if status.is_success() {
            return Ok(body);
        }
        let never = |why: String| Err(Refusal::Never(why));
        match n {
            300..400 => never(format!(
                "{place} answers with a redirect{}, which is not followed: name the final address in \
                 MMW_EMBEDDINGS_URL",
                target(&headers)
            )),
            401 | 403 => never(match self.authorization {
                Some(_) => {
                    format!("{place} does not take the key (status {n}): check MMW_EMBEDDINGS_KEY")
                }
                None => format!("{place} wants a key (status {n}): set MMW_EMBEDDINGS_KEY"),
            }),
            404 | 405 => never(format!(
                "{place} does not have that model, or nothing under that address (status {n}): check \
                 MMW_EMBEDDINGS_MODEL and MMW_EMBEDDINGS_URL"
            )),
            407 => never(format!("the proxy before {place} wants to know who asks")),
            400 | 413 | 422 => Err(Refusal::TooMuch),
            500.. if is_about_length(&body) => Err(Refusal::TooMuch),
            408 | 425 | 429 | 500.. => Err(Refusal::Later {
                why: match n {
                    429 => {
                        format!("{place} is asked too often, or a quota is used up (status 429)")
                    }
                    _ => format!("{place} has trouble of its own (status {n})"),
                },
                wait: wait(&headers),
                is_worth_a_try: true,
            }),
            _ => never(format!("{place} refuses (status {n})")),
        }
    }

    fn failure(&self, error: &ureq::Error, deadline: Duration) -> Refusal {
        let place = &self.endpoint;
        let later = |why: String, is_worth_a_try| Refusal::Later {
            why,
            wait: None,
            is_worth_a_try,
        };
        let insecure = || {
            Refusal::Never(format!(
                "no secure connection to {place} can be made: its certificate is not trusted on this computer, or \
                 it speaks plain http"
            ))
        };
        match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                later(format!("{place} can't be reached in time"), false)
            }
            ureq::Error::Timeout(_) => later(
                format!(
                    "{place} has not answered within {} ms",
                    deadline.as_millis()
                ),
                false,
            ),
            ureq::Error::HostNotFound => later(
                format!("the host of {place} is not known: is this computer online?"),
                false,
            ),
            ureq::Error::Io(error) => match error.kind() {
                ErrorKind::ConnectionRefused => later(
                    format!("nothing listens at {place}: is the server running?"),
                    false,
                ),
                // What the layer of TLS did not understand or did not accept.
                ErrorKind::InvalidData if self.endpoint.is_tls() => insecure(),
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                    later(format!("{place} broke off"), true)
                }
                kind => later(format!("{place} can't be reached ({kind})"), false),
            },
            ureq::Error::Rustls(_) | ureq::Error::Tls(_) => insecure(),
            ureq::Error::BodyExceedsLimit(_) => Refusal::Never(format!(
                "{place} answers with more than vectors can take: is it an embedding model?"
            )),
            ureq::Error::ConnectProxyFailed(_) | ureq::Error::InvalidProxyUrl => later(
                format!("the proxy before {place} does not pass it on"),
                false,
            ),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                Refusal::Never(format!("{place} can't be asked: check MMW_EMBEDDINGS_URL"))
            }
            _ => later(format!("{place} does not answer as a server does"), true),
        }
    }
}

/// Gives a request its own deadline if it needs one. The client reads the system's certificates once, but
/// only for requests without settings of their own.
fn within<B>(request: ureq::RequestBuilder<B>, deadline: Duration) -> ureq::RequestBuilder<B> {
    if deadline + Duration::from_secs(1) > USUAL_DEADLINE {
        return request;
    }
    request.config().timeout_global(Some(deadline)).build()
}

fn bearer(key: &Hidden) -> Result<HeaderValue, EmbedError> {
    outgoing::bearer(key.reveal()).map_err(|_| {
        EmbedError::Unusable("MMW_EMBEDDINGS_KEY has characters that no key has".to_owned())
    })
}

/// How long the server wants to be left alone, if it says so in seconds.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u32 = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds.into()))
}

/// Says where a redirect leads, no further than the host: the rest may hold anything.
fn target(headers: &HeaderMap) -> String {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let endpoint = location.and_then(|location| Endpoint::parse(location).ok());
    endpoint
        .map(|endpoint| format!(" to {endpoint}"))
        .unwrap_or_default()
}
