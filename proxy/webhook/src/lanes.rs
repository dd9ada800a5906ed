//! Who may be delivered to next: a fair turn for every endpoint, so that none delays another. Pure; knows ids and
//! counts only.
//!
//! Each endpoint has a lane with a window: how much of it may be under way at once. A window opens with every success
//! and closes to one with a failure, so that a dead endpoint holds a single place. Lanes whose last attempt failed or
//! was slow share [`slow_share`] of all places; the rest is there for the others whatever happens to those.

use std::collections::{BTreeSet, HashMap, VecDeque};

use svc_core::time::Timestamp;
use svc_store::outbox::{Ask, Lane as Taken};

/// Endpoints of one turn.
const ASKS: usize = 64;
/// Lanes that are remembered, a few hundred bytes each; a forgotten one starts with a window of one.
const REMEMBERED: usize = 10_000;

/// Half of all places.
const fn slow_share(places: u32) -> u32 {
    places.div_ceil(2)
}

pub(crate) struct Lanes {
    lanes: HashMap<String, Lane>,
    /// Lanes at which something may be due, each once; the next one first.
    ready: VecDeque<String>,
    /// When to look at a lane again.
    timers: BTreeSet<(Timestamp, String)>,
    places: u32,
    in_flight: u32,
    slow_in_flight: u32,
}

struct Lane {
    /// What may be under way here, as far as has been found out.
    window: u32,
    /// What the endpoint itself allows, once it is known.
    max_in_flight: u32,
    in_flight: u32,
    is_slow: bool,
    is_ready: bool,
    /// Something may be due that there was no room for.
    is_full: bool,
    timer: Option<Timestamp>,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            window: 1,
            max_in_flight: u32::MAX,
            in_flight: 0,
            is_slow: false,
            is_ready: false,
            is_full: false,
            timer: None,
        }
    }
}

/// What a place was taken for, given back with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Usual,
    Slow,
}

/// How an attempt has fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    Quick,
    /// Delivered, but it took long.
    Slow,
    Failed,
}

impl Lanes {
    pub(crate) fn new(places: u32) -> Self {
        Self {
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            timers: BTreeSet::new(),
            places: places.max(1),
            in_flight: 0,
            slow_in_flight: 0,
        }
    }

    /// Something may be due at an endpoint.
    pub(crate) fn wake(&mut self, id: &str) {
        if !self.lanes.contains_key(id) {
            self.forget_idle();
            self.lanes.insert(id.to_owned(), Lane::default());
        }
        let Some(lane) = self.lanes.get_mut(id) else {
            return;
        };
        if lane.in_flight >= lane.limit() {
            lane.is_full = true;
        } else if !lane.is_ready {
            lane.is_ready = true;
            self.ready.push_back(id.to_owned());
        }
    }

    /// Something will be due at an endpoint.
    pub(crate) fn wake_at(&mut self, id: &str, at: Timestamp) {
        let lane = self.lanes.entry(id.to_owned()).or_default();
        match lane.timer {
            Some(before) if before <= at => return,
            Some(before) => {
                self.timers.remove(&(before, id.to_owned()));
            }
            None => {}
        }
        lane.timer = Some(at);
        self.timers.insert((at, id.to_owned()));
    }

    /// When the next timer fires.
    pub(crate) fn next_timer(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Whom to ask for how much now: every lane in its turn. Places are reserved until [`Self::taken`].
    pub(crate) fn asks(&mut self, now: Timestamp) -> Vec<(Ask, Class)> {
        while self.timers.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, id)) = self.timers.pop_first() else {
                break;
            };
            if let Some(lane) = self.lanes.get_mut(&id) {
                lane.timer = None;
            }
            self.wake(&id);
        }
        let mut asks = Vec::new();
        for _ in 0..self.ready.len() {
            if asks.len() >= ASKS || self.in_flight >= self.places {
                break;
            }
            let Some(id) = self.ready.pop_front() else {
                break;
            };
            let Some(lane) = self.lanes.get_mut(&id) else {
                continue;
            };
            let mut room = self.places - self.in_flight;
            let class = if lane.is_slow {
                room = room.min(slow_share(self.places).saturating_sub(self.slow_in_flight));
                Class::Slow
            } else {
                Class::Usual
            };
            let most = lane.limit().saturating_sub(lane.in_flight).min(room);
            if most == 0 {
                if lane.in_flight >= lane.limit() {
                    (lane.is_ready, lane.is_full) = (false, true);
                } else {
                    // Waits for a place of the slow ones, behind everybody.
                    self.ready.push_back(id);
                }
                continue;
            }
            lane.is_ready = false;
            lane.in_flight += most;
            self.in_flight += most;
            if class == Class::Slow {
                self.slow_in_flight += most;
            }
            let ask = Ask {
                endpoint_id: id,
                most,
            };
            asks.push((ask, class));
        }
        asks
    }

    /// What came of [`Self::asks`]: reserved places that were not needed are free again.
    pub(crate) fn taken(&mut self, asks: &[(Ask, Class)], found: &[Taken]) {
        let found: HashMap<&str, &Taken> = found
            .iter()
            .map(|lane| (lane.endpoint_id.as_str(), lane))
            .collect();
        for (ask, class) in asks {
            let id = ask.endpoint_id.as_str();
            let (taken, max_in_flight) = found
                .get(id)
                .map_or((0, None), |lane| (lane.taken, Some(lane.max_in_flight)));
            let unused = ask.most.saturating_sub(taken);
            self.free(id, *class, unused);
            if let Some(lane) = self.lanes.get_mut(id)
                && let Some(most) = max_in_flight
            {
                lane.max_in_flight = most.max(1);
            }
            // As much as was asked for: there may be more.
            if unused == 0 {
                self.wake(id);
            }
            self.refill(id);
        }
    }

    /// The asks came to nothing; they are asked again.
    pub(crate) fn not_taken(&mut self, asks: &[(Ask, Class)]) {
        for (ask, class) in asks {
            self.free(&ask.endpoint_id, *class, ask.most);
            self.wake(&ask.endpoint_id);
        }
    }

    /// What became of an attempt is written.
    pub(crate) fn finished(&mut self, id: &str, class: Class, pace: Pace) {
        self.free(id, class, 1);
        let Some(lane) = self.lanes.get_mut(id) else {
            return;
        };
        lane.is_slow = pace != Pace::Quick;
        lane.window = match pace {
            Pace::Failed => 1,
            Pace::Slow => lane.window.saturating_add(1).min(lane.max_in_flight),
            Pace::Quick => lane.window.saturating_mul(2).min(lane.max_in_flight),
        };
        self.refill(id);
    }

    /// An attempt was not made, through no fault of the endpoint's: what was taken for it is due again at `again`.
    pub(crate) fn not_attempted(&mut self, id: &str, class: Class, again: Timestamp) {
        self.free(id, class, 1);
        self.wake_at(id, again);
        self.refill(id);
    }

    /// Wakes a lane that had no room and has some now.
    fn refill(&mut self, id: &str) {
        if let Some(lane) = self.lanes.get_mut(id)
            && lane.is_full
            && lane.in_flight < lane.limit()
        {
            lane.is_full = false;
            self.wake(id);
        }
    }

    fn free(&mut self, id: &str, class: Class, places: u32) {
        self.in_flight = self.in_flight.saturating_sub(places);
        if class == Class::Slow {
            self.slow_in_flight = self.slow_in_flight.saturating_sub(places);
        }
        if let Some(lane) = self.lanes.get_mut(id) {
            lane.in_flight = lane.in_flight.saturating_sub(places);
        }
    }

    /// Makes room where too many lanes are remembered.
    fn forget_idle(&mut self) {
        if self.lanes.len() < REMEMBERED {
            return;
        }
        self.lanes
            .retain(|_, lane| lane.is_ready || lane.in_flight > 0 || lane.timer.is_some());
    }
}

impl Lane {
    fn limit(&self) -> u32 {
        self.window.min(self.max_in_flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    /// Asks, and finds as much at every endpoint as was asked for.
    fn turn(lanes: &mut Lanes) -> Vec<(String, u32, Class)> {
        let asks = lanes.asks(NOW);
        let found: Vec<Taken> = asks
            .iter()
            .map(|(ask, _)| Taken {
                endpoint_id: ask.endpoint_id.clone(),
                max_in_flight: 5,
                taken: ask.most,
            })
            .collect();
        lanes.taken(&asks, &found);
        asks.into_iter()
            .map(|(ask, class)| (ask.endpoint_id, ask.most, class))
            .collect()
    }

    fn finish(lanes: &mut Lanes, id: &str, pace: Pace) {
        let is_slow = lanes.lanes.get(id).is_some_and(|lane| lane.is_slow);
        let class = if is_slow { Class::Slow } else { Class::Usual };
        lanes.finished(id, class, pace);
    }

    #[test]
    fn a_window_opens_with_success_and_closes_with_failure() {
        let mut lanes = Lanes::new(100);
        lanes.wake("a");
        assert_eq!(turn(&mut lanes), [("a".to_owned(), 1, Class::Usual)]);
        assert!(turn(&mut lanes).is_empty());
        finish(&mut lanes, "a", Pace::Quick);
        assert_eq!(turn(&mut lanes)[0].1, 2);
        finish(&mut lanes, "a", Pace::Quick);
        finish(&mut lanes, "a", Pace::Quick);
        assert_eq!(turn(&mut lanes)[0].1, 5);
        assert_eq!(lanes.in_flight, 5);
        for _ in 0..5 {
            finish(&mut lanes, "a", Pace::Failed);
        }
        assert_eq!(turn(&mut lanes), [("a".to_owned(), 1, Class::Slow)]);
    }

    #[test]
    fn every_endpoint_has_its_turn_however_much_waits_at_another() {
        let mut lanes = Lanes::new(4);
        for id in ["a", "b", "c", "d", "e", "f"] {
            lanes.wake(id);
        }
        let first: Vec<String> = turn(&mut lanes).into_iter().map(|ask| ask.0).collect();
        assert_eq!(first, ["a", "b", "c", "d"]);
        finish(&mut lanes, "a", Pace::Quick);
        finish(&mut lanes, "b", Pace::Quick);
        // "a" has more, and comes after those who have waited.
        let second: Vec<String> = turn(&mut lanes).into_iter().map(|ask| ask.0).collect();
        assert_eq!(second, ["e", "f"]);
        assert_eq!(lanes.in_flight, 4);
    }

    #[test]
    fn the_dead_and_the_slow_leave_half_of_the_places() {
        let mut lanes = Lanes::new(4);
        for id in ["a", "b", "c", "d"] {
            lanes.wake(id);
        }
        turn(&mut lanes);
        for (id, pace) in [
            ("a", Pace::Failed),
            ("b", Pace::Slow),
            ("c", Pace::Failed),
            ("d", Pace::Failed),
        ] {
            lanes.finished(id, Class::Usual, pace);
        }
        assert_eq!(lanes.in_flight, 0);
        assert_eq!(turn(&mut lanes).len(), 2);
        lanes.wake("healthy");
        let next = turn(&mut lanes);
        assert_eq!(next, [("healthy".to_owned(), 1, Class::Usual)]);
        lanes.finished("healthy", Class::Usual, Pace::Quick);
        assert_eq!(turn(&mut lanes)[0].0, "healthy");
    }

    #[test]
    fn what_was_not_needed_is_free_again() {
        let mut lanes = Lanes::new(2);
        lanes.wake("a");
        let asks = lanes.asks(NOW);
        assert_eq!(lanes.in_flight, 1);
        lanes.taken(&asks, &[]);
        assert_eq!(lanes.in_flight, 0);
        assert!(lanes.asks(NOW).is_empty());
        lanes.wake("a");
        let asks = lanes.asks(NOW);
        lanes.not_taken(&asks);
        assert_eq!(lanes.asks(NOW).len(), 1);
    }

    #[test]
    fn what_was_not_attempted_leaves_the_lane_as_it_is() {
        let mut lanes = Lanes::new(100);
        lanes.wake("a");
        turn(&mut lanes);
        finish(&mut lanes, "a", Pace::Quick);
        assert_eq!(turn(&mut lanes)[0].1, 2);
        for _ in 0..2 {
            lanes.not_attempted("a", Class::Usual, NOW.plus_ms(10));
        }
        assert_eq!(
            (lanes.in_flight, lanes.next_timer()),
            (0, Some(NOW.plus_ms(10)))
        );
        assert_eq!(turn(&mut lanes), [("a".to_owned(), 2, Class::Usual)]);
    }

    #[test]
    fn a_wake_during_a_claim_is_not_lost() {
        let mut lanes = Lanes::new(2);
        lanes.wake("a");
        let asks = lanes.asks(NOW);
        // All places are reserved, and the claim did not see what the wake is about.
        lanes.wake("a");
        assert!(lanes.asks(NOW).is_empty());
        lanes.taken(&asks, &[]);
        assert_eq!(lanes.asks(NOW).len(), 1);
    }

    #[test]
    fn a_timer_fires_once_and_the_earliest_counts() {
        let mut lanes = Lanes::new(2);
        lanes.wake_at("a", NOW.plus_ms(20));
        lanes.wake_at("a", NOW.plus_ms(10));
        lanes.wake_at("a", NOW.plus_ms(30));
        assert_eq!(lanes.next_timer(), Some(NOW.plus_ms(10)));
        assert!(lanes.asks(NOW).is_empty());
        assert_eq!(lanes.asks(NOW.plus_ms(10)).len(), 1);
        assert_eq!(lanes.next_timer(), None);
    }
}
