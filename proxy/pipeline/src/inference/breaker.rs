//! Circuit breaker of one provider: after several failures in a row calls are refused at once for a while, and
//! one trial call decides whether the circuit closes again. Counts what happened, never what was said.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Failures in a row that open the circuit: more than one bad replica behind a balancer gives by chance.
const FAILURES_TO_OPEN: u32 = 5;
/// How long an open circuit refuses before it lets a trial through.
const OPEN_FOR: Duration = Duration::from_secs(10);
/// A trial whose provider lets it hang does not keep the circuit open for ever.
const TRIAL_LASTS: Duration = Duration::from_secs(30);
/// A trial has usually answered by then.
const TRIAL_ANSWERS: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        since: Instant,
    },
    /// Nobody has the trial where it has not begun.
    HalfOpen {
        trial_since: Option<Instant>,
    },
}

/// What a finished call says about the provider's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// It answered as it should, to the end, refusals of the request itself included.
    Sound,
    /// It has begun to answer: enough for a trial, but a stream may still break off.
    Answering,
    /// It works, and serves nobody with the operator's key: the key, the rate or the model is refused. A failure to
    /// whoever calls, and no reason to stop calling.
    Refusing,
    /// It could not be reached, broke off, answered nonsense or reported its own failure.
    Failing,
    /// The call says nothing: it never reached the provider, or the gateway's side of it failed.
    Unknown,
}

impl Health {
    /// Whether whoever called got no answer because of the provider.
    pub(super) const fn is_failure(self) -> bool {
        matches!(self, Self::Refusing | Self::Failing)
    }
}

/// State as provider status shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Circuit {
    Closed,
    /// Calls are refused, for 10 s from the failure that opened it.
    Open,
    /// One call tries whether the provider is back.
    HalfOpen,
}

/// One provider's circuit: closed at first, open after 5 failures in a row.
pub struct Breaker {
    state: Mutex<State>,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            state: Mutex::new(State::Closed { failures: 0 }),
        }
    }
}

impl Breaker {
    /// Whether a call may be made now. In a half-open circuit the first to ask gets the trial.
    ///
    /// # Errors
    /// How long it is until asking again can help.
    pub(super) fn admit(&self, now: Instant) -> Result<Admission<'_>, Duration> {
        let mut state = self.state.lock();
        let admission = |trial| Admission {
            breaker: self,
            trial,
        };
        match *state {
            State::Closed { .. } => return Ok(admission(None)),
            State::Open { since } => {
                let waited = now.duration_since(since);
                if waited < OPEN_FOR {
                    return Err(OPEN_FOR - waited);
                }
            }
            State::HalfOpen {
                trial_since: Some(since),
            } => {
                if now.duration_since(since) < TRIAL_LASTS {
                    return Err(TRIAL_ANSWERS);
                }
            }
            State::HalfOpen { trial_since: None } => {}
        }
        let trial_since = Some(now);
        *state = State::HalfOpen { trial_since };
        Ok(admission(trial_since))
    }

    pub(super) fn report(&self, health: Health, now: Instant) {
        let mut state = self.state.lock();
        *state = match (health, *state) {
            (Health::Unknown, same)
            | (Health::Answering, same @ (State::Closed { .. } | State::Open { .. })) => same,
            (Health::Answering, State::HalfOpen { .. }) | (Health::Sound | Health::Refusing, _) => {
                State::Closed { failures: 0 }
            }
            (Health::Failing, State::Closed { failures }) if failures + 1 < FAILURES_TO_OPEN => {
                State::Closed {
                    failures: failures + 1,
                }
            }
            (Health::Failing, State::Closed { .. } | State::HalfOpen { .. }) => {
                State::Open { since: now }
            }
            (Health::Failing, State::Open { since }) => State::Open { since },
        };
    }

    /// A run that had begun has ended well. It may be an old one: of a provider that was taken for broken since it says
    /// nothing.
    pub(super) fn finished(&self) {
        let mut state = self.state.lock();
        if let State::Closed { failures } = &mut *state {
            *failures = 0;
        }
    }

    /// Where it stands: an open one stays so until a call asks to be the trial.
    pub fn circuit(&self) -> Circuit {
        match *self.state.lock() {
            State::Closed { .. } => Circuit::Closed,
            State::Open { .. } => Circuit::Open,
            State::HalfOpen { .. } => Circuit::HalfOpen,
        }
    }
}

/// A call that may be made. Dropped without a verdict, it gives its trial to the next one.
#[must_use]
pub(super) struct Admission<'b> {
    breaker: &'b Breaker,
    /// When this call became the trial, where it is that.
    trial: Option<Instant>,
}

impl Admission<'_> {
    /// How the call went.
    pub(super) fn report(self, health: Health, now: Instant) {
        self.breaker.report(health, now);
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        if self.trial.is_none() {
            return;
        }
        let mut state = self.breaker.state.lock();
        let mine = State::HalfOpen {
            trial_since: self.trial,
        };
        if *state == mine {
            *state = State::HalfOpen { trial_since: None };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a call hears that reports nothing while the test runs.
    fn asks(breaker: &Breaker, now: Instant) -> Result<(), Duration> {
        breaker.admit(now).map(std::mem::forget)
    }

    fn opened(now: Instant) -> Breaker {
        let breaker = Breaker::default();
        for _ in 0..FAILURES_TO_OPEN {
            assert_eq!(asks(&breaker, now), Ok(()));
            breaker.report(Health::Failing, now);
        }
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_between_them_does_not() {
        let now = Instant::now();
        let breaker = Breaker::default();
        for _ in 0..FAILURES_TO_OPEN * 2 {
            breaker.report(Health::Failing, now);
            breaker.report(Health::Unknown, now);
            breaker.report(Health::Sound, now);
            breaker.report(Health::Refusing, now);
        }
        assert_eq!(breaker.circuit(), Circuit::Closed);
        assert_eq!(asks(&opened(now), now), Err(OPEN_FOR));
    }

    #[test]
    fn streams_that_break_off_one_after_another_open_it() {
        let now = Instant::now();
        let breaker = Breaker::default();
        for _ in 0..FAILURES_TO_OPEN {
            breaker.report(Health::Answering, now);
            breaker.report(Health::Failing, now);
        }
        assert_eq!(breaker.circuit(), Circuit::Open);
    }

    #[test]
    fn the_end_of_an_old_run_closes_nothing() {
        let now = Instant::now();
        let breaker = opened(now);
        breaker.finished();
        assert_eq!(asks(&breaker, now), Err(OPEN_FOR));
        let later = now + OPEN_FOR;
        assert_eq!(asks(&breaker, later), Ok(()));
        breaker.finished();
        assert_eq!(asks(&breaker, later), Err(TRIAL_ANSWERS));
        let sound = Breaker::default();
        for _ in 0..FAILURES_TO_OPEN * 2 {
            sound.report(Health::Failing, now);
            sound.finished();
        }
        assert_eq!(sound.circuit(), Circuit::Closed);
    }

    #[test]
    fn one_trial_decides() {
        let now = Instant::now();
        let breaker = opened(now);
        let later = now + OPEN_FOR;
        let second = Duration::from_secs(1);
        assert_eq!(asks(&breaker, later - second), Err(second));
        assert_eq!(asks(&breaker, later), Ok(()));
        assert_eq!(asks(&breaker, later), Err(TRIAL_ANSWERS));
        breaker.report(Health::Failing, later);
        assert_eq!(asks(&breaker, later), Err(OPEN_FOR));
        let again = later + OPEN_FOR;
        assert_eq!(asks(&breaker, again), Ok(()));
        breaker.report(Health::Answering, again);
        assert_eq!([asks(&breaker, again), asks(&breaker, again)], [Ok(()); 2]);
    }

    #[test]
    fn a_trial_that_says_nothing_is_the_next_ones() {
        let now = Instant::now();
        let breaker = opened(now);
        let trial = now + OPEN_FOR;
        let second = Duration::from_secs(1);
        let reported = breaker.admit(trial);
        assert!(reported.map(|it| it.report(Health::Unknown, trial)).is_ok());
        let left = breaker.admit(trial);
        assert_eq!(asks(&breaker, trial), Err(TRIAL_ANSWERS));
        drop(left);
        assert_eq!(asks(&breaker, trial + second), Ok(()));
        // Who comes late gives nothing back that is another's.
        let late = breaker.admit(trial + second + TRIAL_LASTS);
        assert_eq!(
            asks(&breaker, trial + second + TRIAL_LASTS + TRIAL_LASTS),
            Ok(())
        );
        drop(late);
        let soon = trial + second + TRIAL_LASTS + TRIAL_LASTS + second;
        assert_eq!(asks(&breaker, soon), Err(TRIAL_ANSWERS));
    }

    #[test]
    fn a_trial_that_never_reports_is_replaced() {
        let now = Instant::now();
        let breaker = opened(now);
        let trial = now + OPEN_FOR;
        assert_eq!(asks(&breaker, trial), Ok(()));
        assert_eq!(asks(&breaker, trial + TRIAL_LASTS), Ok(()));
    }
}
