//! A request body between the client and the service: read when asked for, under the asker's limit and one
//! total deadline. Before that only as much as tells whether the client is still there.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::Version;
use http::header::{CONTENT_LENGTH, EXPECT};
use pingora::protocols::http::ServerSession;
use svc_pipeline::request::{BodyDemand, BodyError};
use tokio::time::Instant;

/// Read without being asked: a body of this size comes with its head, and a connection whose body is
/// complete shows when the client leaves. 64 KiB is one read of pingora's.
const EARLY_BYTES: usize = 64 * 1024;

pub(crate) struct Intake {
    state: State,
    received: BytesMut,
    declared: Option<usize>,
    /// The client waits for `100 Continue` before it sends anything.
    awaits_continue: bool,
    demand: Option<(BodyDemand, Instant)>,
    deadline: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Whole,
    /// Handed over: later wishes find it empty.
    Spent,
    /// Too long or too late; what is left of it is not worth reading.
    Refused,
    /// Its framing broke: nobody knows where it ends.
    Misframed,
}

/// What a demand makes the connection do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Nothing,
    SayContinue,
}

impl Intake {
    pub(crate) fn new(session: &mut ServerSession, deadline: Duration) -> Self {
        let headers = &session.req_header().headers;
        let declared = headers
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.trim().parse().ok());
        // Pingora sends no interim head over HTTP/2; to a client of HTTP/1.0 it would be the answer, and whatever such
        // a client expects is ignored (RFC 9110, 10.1.1 and 15.2).
        let awaits_continue = session.req_header().version == Version::HTTP_11
            && headers
                .get(EXPECT)
                .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        let whole = session.is_body_done();
        Self {
            state: if whole { State::Whole } else { State::Open },
            received: BytesMut::new(),
            declared,
            awaits_continue: awaits_continue && !whole,
            demand: None,
            deadline,
        }
    }

    /// Takes a wish up; answers it at once where that needs no further byte.
    pub(crate) fn demand(&mut self, demand: BodyDemand) -> Next {
        let too_large = self
            .declared
            .is_some_and(|bytes| bytes > demand.limit_bytes)
            || self.received.len() > demand.limit_bytes;
        match self.state {
            State::Spent | State::Refused => answer(demand, Ok(Bytes::new())),
            State::Misframed => answer(demand, Err(BodyError::Misframed)),
            _ if too_large => self.refuse_size(demand),
            State::Whole => {
                let body = self.spend();
                answer(demand, Ok(body));
            }
            State::Open => {
                self.demand = Some((demand, Instant::now() + self.deadline));
                if std::mem::take(&mut self.awaits_continue) {
                    return Next::SayContinue;
                }
            }
        }
        Next::Nothing
    }

    /// Whether a wish waits for bytes.
    pub(crate) fn wanted(&self) -> bool {
        self.demand.is_some()
    }

    /// Whether the connection should be read for more of the body.
    pub(crate) fn hungry(&self) -> bool {
        let early = !self.awaits_continue && self.received.len() < EARLY_BYTES;
        self.state == State::Open && (self.wanted() || early)
    }

    /// When the wish in hand has waited long enough.
    pub(crate) async fn overdue(&self) {
        match &self.demand {
            Some((_, at)) => tokio::time::sleep_until(*at).await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn time_out(&mut self) {
        if let Some((demand, _)) = self.demand.take() {
            self.state = State::Refused;
            answer(demand, Err(BodyError::TimedOut));
        }
    }

    /// The framing broke: whoever wants the body is told, and nothing more is read.
    pub(crate) fn break_off(&mut self) {
        self.state = State::Misframed;
        self.received = BytesMut::new();
        if let Some((demand, _)) = self.demand.take() {
            answer(demand, Err(BodyError::Misframed));
        }
    }

    pub(crate) fn is_misframed(&self) -> bool {
        self.state == State::Misframed
    }

    /// Takes what was read; `whole` when that was the end.
    pub(crate) fn push(&mut self, bytes: Option<Bytes>, whole: bool) {
        if self.state != State::Open {
            return;
        }
        let ended = whole || bytes.is_none();
        match bytes {
            // Most bodies come in one piece, which is kept as it is where nobody else has its memory.
            Some(first) if self.received.is_empty() => self.received = first.into(),
            Some(more) => self.received.extend_from_slice(&more),
            None => {}
        }
        if let Some((demand, at)) = self.demand.take() {
            if self.received.len() > demand.limit_bytes {
                self.refuse_size(demand);
            } else if ended {
                let body = self.spend();
                answer(demand, Ok(body));
            } else {
                self.demand = Some((demand, at));
            }
        } else if ended {
            self.state = State::Whole;
        }
    }

    /// Whether the rest of the body is small and on its way, so that reading it saves the connection.
    pub(crate) fn worth_draining(&self) -> bool {
        !matches!(self.state, State::Refused | State::Misframed)
            && !self.awaits_continue
            && self.declared.is_some_and(|bytes| bytes <= EARLY_BYTES)
    }

    fn refuse_size(&mut self, demand: BodyDemand) {
        self.state = State::Refused;
        self.received = BytesMut::new();
        let limit_bytes = demand.limit_bytes;
        answer(demand, Err(BodyError::TooLarge { limit_bytes }));
    }

    fn spend(&mut self) -> Bytes {
        self.state = State::Spent;
        std::mem::take(&mut self.received).freeze()
    }
}

fn answer(demand: BodyDemand, result: Result<Bytes, BodyError>) {
    // A service that no longer listens has its answer already.
    let _ = demand.answer.send(result);
}
