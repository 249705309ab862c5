//! An embedder behind a server: texts in, vectors out.
//!
//! A batch has time, and is tried again when the server asks for patience. A query has a deadline, is
//! asked once, and does not wait at all while the server is known to be away.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use mmw_core::text::cut_at_char;
use mmw_store::embed::{EmbedError, Embedder, ModelId, Passage, TEMPLATE_VERSION, Vector, cut};

use super::breaker::Breaker;
use super::estimate::{pieces, tokens};
use super::form::Form;
use super::http::{Http, Refusal};
use super::settings::Remote;
use super::wire::{self, Misread};

/// Texts of one request. Servers of the Text Embeddings Inference kind take no more by default.
const MAX_TEXTS: usize = 32;

/// Tokens of one request, about.
const MAX_TOKENS: usize = 100_000;

/// How often a batch is sent at most.
const ATTEMPTS: u32 = 3;

/// How often a text that is too long is halved at most.
const HALVINGS: u32 = 4;

/// Tokens below which no text is too long for any model: then something else is refused.
const SHORTEST: usize = 32;

/// The longest answer as long as the number of dimensions is not known, in bytes.
const MAX_FIRST_ANSWER: u64 = 1 << 20;

/// The longest that a number is written, in bytes, with what stands around it.
const NUMBER_BYTES: u64 = 48;

/// What an answer has besides numbers, in bytes.
const FRAME_BYTES: u64 = 64 << 10;

/// Names of models that a message lists at most.
const MAX_LISTED: usize = 20;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// A batch, with everything that is tried again.
    pub(super) batch: Duration,
    /// How long queries are refused after one failed.
    pub(super) rest: Duration,
    /// Before a batch is sent again, if the server does not say; doubled each time.
    pub(super) retry: Duration,
    /// The longest wait for a server that asks for one; beyond that the batch fails.
    pub(super) longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            batch: Duration::from_secs(60),
            rest: Duration::from_secs(10),
            retry: Duration::from_millis(500),
            longest_wait: Duration::from_secs(5),
        }
    }
}

/// A model behind an OpenAI-compatible server.
pub struct Embeddings {
    id: ModelId,
    window: usize,
    query_deadline: Duration,
    shared: Arc<Shared>,
}

/// What a query that goes on beside needs too.
struct Shared {
    line: Line,
    breaker: Breaker,
}

/// A server and how it is asked.
struct Line {
    http: Http,
    model: String,
    form: Form,
    dimensions: Option<usize>,
    patience: Patience,
}

impl Embeddings {
    /// Connects to a server: finds out which model it has, if none is named, and how many dimensions
    /// it gives, with one short text of its own. Takes as long as the server needs to load its model,
    /// up to a minute.
    ///
    /// # Errors
    /// [`EmbedError::Unavailable`] if it may work later, [`EmbedError::Unusable`] if somebody has to
    /// change something first. Both say what.
    pub fn connect(remote: &Remote) -> Result<Self, EmbedError> {
        Self::with(remote, Patience::default())
    }

    pub(super) fn with(remote: &Remote, patience: Patience) -> Result<Self, EmbedError> {
        let http = Http::new(remote)?;
        let model = match &remote.model {
            Some(model) => model.clone(),
            None => only_model(&http, patience.batch)?,
        };
        let form = Form::of(&model);
        let mut line = Line {
            http,
            model,
            form,
            dimensions: None,
            patience,
        };
        let probe = [format!("{}staging runs as app", form.document)];
        let until = Instant::now() + patience.batch;
        let found = line
            .patiently(&probe, until)
            .map_err(|refusal| match refusal {
                Refusal::TooMuch => EmbedError::Unusable(format!(
                    "{} refuses a short text for the model `{}`: is it an embedding model?",
                    line.http.endpoint(),
                    line.model
                )),
                other => line.error(other, remote.window),
            })?;
        let dimensions = found.first().map_or(0, |vector| vector.values().len());
        line.dimensions = Some(dimensions);
        tracing::info!(
            server = %line.http.endpoint(),
            model = %line.model,
            dimensions,
            "a server embeds"
        );
        Ok(Self {
            id: ModelId {
                name: form.name(&line.model),
                dimensions,
                template: TEMPLATE_VERSION,
            },
            window: remote.window,
            query_deadline: remote.query_deadline,
            shared: Arc::new(Shared {
                line,
                breaker: Breaker::new(patience.rest),
            }),
        })
    }

    /// Returns how many tokens of the window are left for a text.
    fn budget(&self, before: &str) -> usize {
        // Two are for the tokens that models put around a text.
        let taken = 2 + tokens(before);
        self.window.saturating_sub(taken).max(32)
    }
}

impl Embedder for Embeddings {
    fn model(&self) -> &ModelId {
        &self.id
    }

    fn pieces(&self, passage: &Passage<'_>) -> Vec<String> {
        pieces(passage, self.budget(self.shared.line.form.document))
    }

    /// A text that the server finds too long is embedded in parts, and its vector is their middle.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let line = &self.shared.line;
        let texts: Vec<String> = texts
            .iter()
            .map(|text| format!("{}{text}", line.form.document))
            .collect();
        let mut vectors = Vec::with_capacity(texts.len());
        while vectors.len() < texts.len() {
            let done = vectors.len();
            let batch = batch(&texts[done..]);
            let until = Instant::now() + line.patience.batch;
            let found = line
                .in_parts(batch, until, HALVINGS)
                .map_err(|refusal| line.error(refusal.moved(done), self.window))?;
            vectors.extend(found);
        }
        Ok(vectors)
    }

    fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.shared.breaker.check()?;
        let form = self.shared.line.form;
        let budget = self.budget(form.query);
        let passage = Passage {
            fact: cut_at_char(text, budget * 8),
            ..Passage::default()
        };
        let first = pieces(&passage, budget).into_iter().next();
        let text = format!("{}{}", form.query, first.unwrap_or_default());
        let (sender, receiver) = sync_channel(1);
        let (shared, window) = (Arc::clone(&self.shared), self.window);
        let deadline = self.query_deadline;
        let asking = move || {
            let (outcome, rest) = shared.line.query(text, window);
            let settled = outcome.as_ref().map(|_| ()).map_err(Clone::clone);
            // In this order: whoever gives up looks once more after taking the breaker.
            let _ = sender.send((outcome, rest));
            shared.breaker.settle(settled.as_ref().copied(), rest);
        };
        let spawned = thread::Builder::new()
            .name("mmw-query".to_owned())
            .spawn(asking);
        let broken =
            || EmbedError::Unavailable("this computer has no thread left to ask with".to_owned());
        spawned.map_err(|_| broken())?;
        let (outcome, rest) = match receiver.recv_timeout(deadline) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => return Err(broken()),
            Err(RecvTimeoutError::Timeout) => {
                let why = EmbedError::Unavailable(format!(
                    "{} has not answered within {} ms (MMW_EMBEDDINGS_TIMEOUT_MS)",
                    self.shared.line.http.endpoint(),
                    deadline.as_millis()
                ));
                self.shared
                    .breaker
                    .give_up(why, || receiver.try_recv().ok())?
            }
        };
        self.shared
            .breaker
            .settle(outcome.as_ref().map(|_| ()), rest);
        outcome
    }

    /// Always: an address on this computer may pass on what it gets.
    fn is_remote(&self) -> bool {
        true
    }
}

impl Line {
    /// Asks for the vector of a query, however long it takes, and once: only what the server finds too
    /// long is asked again, shorter. Returns too how long the server wants to be left alone.
    fn query(
        &self,
        mut text: String,
        window: usize,
    ) -> (Result<Vector, EmbedError>, Option<Duration>) {
        let until = Instant::now() + self.patience.batch;
        let mut answer = self.once(std::slice::from_ref(&text), until);
        for _ in 0..HALVINGS {
            if answer != Err(Refusal::TooMuch) || tokens(&text) < SHORTEST {
                break;
            }
            text.truncate(cut_at_char(&text, text.len() / 2).len());
            answer = self.once(std::slice::from_ref(&text), until);
        }
        match answer {
            Ok(mut vectors) => (vectors.pop().ok_or(EmbedError::NoVector { index: 0 }), None),
            Err(refusal) => {
                let rest = match &refusal {
                    Refusal::Later { wait, .. } => *wait,
                    _ => None,
                };
                (Err(self.error(refusal, window)), rest)
            }
        }
    }

    /// Embeds texts, fewer at once and in parts where the server finds them too much.
    fn in_parts(
        &self,
        texts: &[String],
        until: Instant,
        halvings: u32,
    ) -> Result<Vec<Vector>, Refusal> {
        match self.patiently(texts, until) {
            Err(Refusal::TooMuch) if texts.len() > 1 => {
                let (first, second) = texts.split_at(texts.len() / 2);
                let mut vectors = self.in_parts(first, until, halvings)?;
                let others = self.in_parts(second, until, halvings);
                vectors.extend(others.map_err(|refusal| refusal.moved(first.len()))?);
                Ok(vectors)
            }
            Err(Refusal::TooMuch) => {
                let text = texts.first().map(String::as_str).unwrap_or_default();
                Ok(vec![self.middle(text, until, halvings)?])
            }
            other => other,
        }
    }

    /// Returns the middle of the vectors of a text's halves.
    fn middle(&self, text: &str, until: Instant, halvings: u32) -> Result<Vector, Refusal> {
        let before = self.form.document;
        let bare = text.strip_prefix(before).unwrap_or(text);
        let n_tokens = tokens(bare);
        let too_long = Refusal::TooLong(0, n_tokens);
        if halvings == 0 || n_tokens < SHORTEST {
            return Err(too_long);
        }
        let halves: Vec<String> = cut(bare, n_tokens.div_ceil(2), 0, tokens)
            .into_iter()
            .map(|half| format!("{before}{}", &bare[half]))
            .collect();
        let vectors = self
            .in_parts(&halves, until, halvings - 1)
            .map_err(|refusal| refusal.about_one(too_long))?;
        let mut sum = vec![0.0; self.dimensions.unwrap_or_default()];
        for vector in &vectors {
            for (sum, value) in sum.iter_mut().zip(vector.values()) {
                *sum += value;
            }
        }
        Vector::new(sum).ok_or(Refusal::NoVector(0))
    }

    /// Asks, and asks again while the server wants no more than a little patience.
    fn patiently(&self, texts: &[String], until: Instant) -> Result<Vec<Vector>, Refusal> {
        let mut pause = self.patience.retry;
        for _ in 1..ATTEMPTS {
            let refusal = match self.once(texts, until) {
                Err(refusal) => refusal,
                found => return found,
            };
            let Refusal::Later {
                wait,
                is_worth_a_try: true,
                ..
            } = &refusal
            else {
                return Err(refusal);
            };
            let wait = wait.unwrap_or(pause);
            if wait > self.patience.longest_wait || Instant::now() + wait >= until {
                return Err(refusal);
            }
            // Nothing tells when a server is ready again but the time that it names.
            rest(wait);
            pause *= 2;
        }
        self.once(texts, until)
    }

    fn once(&self, texts: &[String], until: Instant) -> Result<Vec<Vector>, Refusal> {
        let max_bytes = self.dimensions.map_or(MAX_FIRST_ANSWER, |dimensions| {
            texts.len() as u64 * dimensions as u64 * NUMBER_BYTES + FRAME_BYTES
        });
        let deadline = until.saturating_duration_since(Instant::now());
        let request = wire::request(Some(&self.model), texts);
        let body = self.http.post(&request, max_bytes, deadline)?;
        wire::vectors(&body, texts.len(), self.dimensions).map_err(|misread| self.misread(misread))
    }

    fn misread(&self, misread: Misread) -> Refusal {
        let place = self.http.endpoint();
        match misread {
            Misread::CutOff => Refusal::Later {
                why: format!("{place} broke off"),
                wait: None,
                is_worth_a_try: true,
            },
            Misread::Shape | Misread::Count => Refusal::Never(format!(
                "{place} does not answer as /v1/embeddings does: check MMW_EMBEDDINGS_URL"
            )),
            Misread::OllamaForm => Refusal::Never(format!(
                "{place} answers in Ollama's own form: name its address with /v1 in MMW_EMBEDDINGS_URL"
            )),
            Misread::Dimensions(found) => Refusal::Never(format!(
                "{place} gives vectors of {found} numbers for the model `{}`, before it gave {}: start this program \
                 again if the model was exchanged",
                self.model,
                self.dimensions.unwrap_or_default()
            )),
            Misread::NoVector(nth) => Refusal::NoVector(nth),
        }
    }

    fn error(&self, refusal: Refusal, window: usize) -> EmbedError {
        match refusal {
            Refusal::Later { why, .. } => EmbedError::Unavailable(why),
            Refusal::Never(why) => EmbedError::Unusable(why),
            Refusal::NoVector(index) => EmbedError::NoVector { index },
            Refusal::TooLong(index, n_tokens) => EmbedError::TooLong {
                index,
                n_tokens,
                window,
            },
            Refusal::TooMuch => EmbedError::TooLong {
                index: 0,
                n_tokens: window,
                window,
            },
        }
    }
}

impl Refusal {
    /// Says the same about a text that stands further behind.
    fn moved(self, by: usize) -> Self {
        match self {
            Self::NoVector(nth) => Self::NoVector(nth + by),
            Self::TooLong(nth, n_tokens) => Self::TooLong(nth + by, n_tokens),
            other => other,
        }
    }

    /// Says of a whole text what was said of its parts.
    fn about_one(self, too_long: Self) -> Self {
        match self {
            Self::NoVector(_) => Self::NoVector(0),
            Self::TooLong(..) | Self::TooMuch => too_long,
            other => other,
        }
    }
}

/// Returns as many of the texts as one request takes, at least one.
fn batch(texts: &[String]) -> &[String] {
    let mut sum = 0;
    let fits = texts.iter().take(MAX_TEXTS).take_while(|text| {
        sum += tokens(text);
        sum <= MAX_TOKENS
    });
    let n = fits.count().max(1).min(texts.len());
    &texts[..n]
}

fn rest(wait: Duration) {
    let until = Instant::now() + wait;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::park_timeout(left);
    }
}

/// Returns the only model that a server has.
fn only_model(http: &Http, deadline: Duration) -> Result<String, EmbedError> {
    let place = http.endpoint();
    let error = |refusal| match refusal {
        Refusal::Later { why, .. } => EmbedError::Unavailable(why),
        Refusal::Never(why) => EmbedError::Unusable(why),
        Refusal::TooMuch | Refusal::NoVector(_) | Refusal::TooLong(..) => unnamed(http),
    };
    let reply = http
        .get(&place.models(), MAX_FIRST_ANSWER, deadline)
        .map_err(error)?;
    if matches!(reply.status.as_u16(), 404 | 405 | 501) {
        let info = http
            .get(&place.info(), MAX_FIRST_ANSWER, deadline)
            .map_err(error)?;
        let is_there = info.status.is_success();
        let model = is_there.then(|| wire::model_of_info(&info.body)).flatten();
        return model.ok_or_else(|| unnamed(http));
    }
    let body = http.judge(reply).map_err(error)?;
    let mut models = wire::models(&body).ok_or_else(|| unnamed(http))?;
    match (models.pop(), models.is_empty()) {
        (Some(model), true) => Ok(model),
        (None, _) => Err(EmbedError::Unusable(format!(
            "{place} has no model: load one there (Ollama: `ollama pull nomic-embed-text`)"
        ))),
        (Some(last), false) => {
            models.push(last);
            let n_more = models.len().saturating_sub(MAX_LISTED);
            models.truncate(MAX_LISTED);
            let more = if n_more > 0 {
                format!(" and {n_more} more")
            } else {
                String::new()
            };
            Err(EmbedError::Unusable(format!(
                "{place} has several models, name one in MMW_EMBEDDINGS_MODEL: {}{more}",
                models.join(", ")
            )))
        }
    }
}

fn unnamed(http: &Http) -> EmbedError {
    EmbedError::Unusable(format!(
        "{} does not say which models it has: name one in MMW_EMBEDDINGS_MODEL",
        http.endpoint()
    ))
}
