//! When a delivery is attempted (spec, Limits; contract 15.2). Pure: randomness comes in.

use std::time::Duration;

use svc_core::time::Timestamp;

/// The operator's schedule.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Before each attempt, from the end of the one before; before the first, from the event.
    pub delays: Vec<Duration>,
    /// At most as many as there are delays.
    pub max_attempts: u32,
    /// A delay grows by up to this much of itself.
    pub jitter_percent: u32,
}

/// Attempts of the spec; the sixth delay is used only by operators who raise the number (contract 15.2, X4).
pub const MAX_ATTEMPTS: u32 = 5;

/// Spec, Limits: at once, 10 s, 60 s, 5 min, 30 min, and 2 h after that.
pub const DELAYS_MS: [u64; 6] = [0, 10_000, 60_000, 300_000, 1_800_000, 7_200_000];

/// Contract 15.2: uniformly in [0, +10 %].
pub const JITTER_PERCENT: u32 = 10;

/// 2 h: the most that a receiver's `Retry-After` lengthens one delay to (contract 15.2).
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(7_200);

impl Default for Schedule {
    fn default() -> Self {
        Self {
            delays: DELAYS_MS.map(Duration::from_millis).to_vec(),
            max_attempts: MAX_ATTEMPTS,
            jitter_percent: JITTER_PERCENT,
        }
    }
}

impl Schedule {
    /// When attempt `made` + 1 of a schedule is due, where attempt `made` ended at `ended_at`; `None` once all are
    /// made. `random` is below 1; `wished` is what the receiver has asked for, if that counts.
    pub fn next(
        &self,
        made: u32,
        ended_at: Timestamp,
        random: f64,
        wished: Option<Duration>,
    ) -> Option<Timestamp> {
        if made >= self.max_attempts {
            return None;
        }
        let delay = self.delays.get(made as usize)?;
        let jitter = delay.mul_f64(f64::from(self.jitter_percent) / 100.0 * random.clamp(0.0, 1.0));
        let wished = wished.unwrap_or_default().min(MAX_RETRY_AFTER);
        let wait = delay.saturating_add(jitter).max(wished);
        let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        Some(ended_at.plus_ms(wait_ms))
    }
}

/// What `Retry-After` says in seconds; dates are not read.
pub fn retry_after(value: &str) -> Option<Duration> {
    value.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDED: Timestamp = Timestamp(1_000_000);

    fn waits(schedule: &Schedule, random: f64) -> Vec<i64> {
        let dues = (1..).map_while(|made| schedule.next(made, ENDED, random, None));
        dues.map(|due| due.0 - ENDED.0).collect()
    }

    #[test]
    fn five_attempts_after_the_delays_of_the_spec_and_never_earlier() {
        let schedule = Schedule::default();
        assert_eq!(waits(&schedule, 0.0), [10_000, 60_000, 300_000, 1_800_000]);
        assert_eq!(waits(&schedule, 1.0), [11_000, 66_000, 330_000, 1_980_000]);
    }

    #[test]
    fn a_sixth_attempt_comes_two_hours_later_where_the_operator_wants_one() {
        let schedule = Schedule {
            max_attempts: 6,
            jitter_percent: 0,
            ..Schedule::default()
        };
        assert_eq!(waits(&schedule, 0.7).last(), Some(&7_200_000));
        assert_eq!(waits(&schedule, 0.7).len(), 5);
    }

    #[test]
    fn a_receiver_may_lengthen_one_delay_and_never_shorten_it() {
        let schedule = Schedule::default();
        let wait = |seconds| {
            let wished = Some(Duration::from_secs(seconds));
            schedule
                .next(1, ENDED, 0.0, wished)
                .map(|due| due.0 - ENDED.0)
        };
        assert_eq!(wait(5), Some(10_000));
        assert_eq!(wait(120), Some(120_000));
        assert_eq!(wait(1_000_000), Some(7_200_000));
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(retry_after("-1"), None);
    }
}
