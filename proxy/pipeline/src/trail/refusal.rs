//! Refused requests whose intent may stand: its commit got no answer, or its caller left while it was on its way. Their
//! rows are owed for as long as the store is away. One task writes them, one after the other, so that a store that comes
//! back is not run over by all of them at once; and there is room for so many only.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use svc_core::fault::Fault;
use svc_store::audit::Row;
use svc_store::{StoreError, inference, tenant};

use super::row::End;
use super::settle::{fail_opened, tenant_of};
use super::{Opening, Record};
use crate::gateway::Gateway;
use crate::owed::Late;

/// Both rows of a refused request.
pub(super) struct Refusal {
    pub(super) intent: Row,
    pub(super) terminal: Row,
    pub(super) end: End,
    pub(super) record: Record,
}

impl Refusal {
    /// Writes the rows, or ends the run where it has its intent already.
    ///
    /// # Errors
    /// Those of the database; within, the fault of a run that could not be ended, which is tried again.
    pub(super) async fn write(
        &self,
        gateway: &Arc<Gateway>,
    ) -> Result<Result<(), Fault>, StoreError> {
        if inference::refuse(&gateway.store, &self.intent, &self.terminal).await? {
            return Ok(Ok(()));
        }
        let debt = gateway.owed.run();
        Ok(fail_opened(gateway, &self.record, self.end, Some(debt)).await)
    }
}

/// Those that are owed. One for each process.
#[derive(Default)]
pub struct Refusals(Mutex<Queue<Owed>>);

struct Owed {
    refusal: Refusal,
    opening: Opening,
    _late: Late,
}

impl Owed {
    fn is_due(&self) -> bool {
        self.opening.progress.may_stand()
    }
}

struct Queue<T> {
    waiting: VecDeque<T>,
    /// A task writes them.
    is_written: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            is_written: false,
        }
    }
}

/// What became of one that is put into the queue.
#[derive(Debug, PartialEq, Eq)]
enum Put {
    /// The task that is there will write it.
    Waits,
    /// A task is wanted.
    First,
    /// There is no room.
    Full,
}

impl<T> Queue<T> {
    /// Makes room, where there is none, by those that are due no more.
    fn put(&mut self, one: T, is_due: impl Fn(&T) -> bool) -> Put {
        if self.waiting.len() >= MOST_OWED {
            self.waiting.retain(is_due);
        }
        if self.waiting.len() >= MOST_OWED {
            return Put::Full;
        }
        self.waiting.push_back(one);
        match std::mem::replace(&mut self.is_written, true) {
            true => Put::Waits,
            false => Put::First,
        }
    }

    /// The next; `None` ends the task.
    fn next(&mut self) -> Option<T> {
        let next = self.waiting.pop_front();
        self.is_written = next.is_some();
        next
    }
}

/// Has the rows of a refused request written once the store takes them, unless its intent was never begun to be written.
pub(super) fn owe(gateway: &Arc<Gateway>, refusal: Refusal, opening: Opening) {
    let request_id = refusal.record.request_id.clone();
    let owed = Owed {
        refusal,
        opening,
        _late: gateway.owed.late(),
    };
    if !owed.is_due() {
        return;
    }
    let put = gateway.refusals.0.lock().put(owed, Owed::is_due);
    match put {
        Put::Waits => {}
        Put::First => {
            let writing = write_all(Arc::clone(gateway));
            gateway.background.spawn(writing);
        }
        Put::Full => tracing::error!(
            request_id,
            "rows of a refusal are not written: too many are owed; recovery closes its intent, if it has one, when \
             this process is gone"
        ),
    }
}

async fn write_all(gateway: Arc<Gateway>) {
    let mut pause = FIRST_PAUSE;
    tokio::time::sleep(pause).await;
    loop {
        // Not in the condition of a `while let`, where the lock would be held across the writing.
        let next = gateway.refusals.0.lock().next();
        let Some(owed) = next else { return };
        while owed.is_due() && !write(&gateway, &owed.refusal).await {
            pause = next_pause(pause);
            tokio::time::sleep(pause).await;
        }
        pause = FIRST_PAUSE;
    }
}

/// `false`: to be tried again.
async fn write(gateway: &Arc<Gateway>, refusal: &Refusal) -> bool {
    let tenant = tenant_of(&refusal.record);
    match tenant::in_name_of(tenant, refusal.write(gateway)).await {
        Ok(_) => true,
        Err(error) if error.is_outage() => false,
        Err(error) => {
            let request_id = &refusal.record.request_id;
            tracing::error!(request_id, %error, "rows of a refusal are not written");
            true
        }
    }
}

fn next_pause(pause: Duration) -> Duration {
    (pause * 2).min(LONGEST_PAUSE)
}

/// 16 KiB or so each: 16 MiB. A commit is lost with its connection, of which there are eight. Whoever left while their
/// intent waited for one is here only until it is known that it got none.
const MOST_OWED: usize = 1_024;
/// 1 s, and each pause twice the one before while the store is away.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// 15 s: a store that comes back finds out soon what it missed.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_writes_what_is_owed_and_there_is_room_for_so_many() {
        let mut queue = Queue::default();
        let all = |_: &usize| true;
        assert_eq!(queue.put(0, all), Put::First);
        for number in 1..MOST_OWED {
            assert_eq!(queue.put(number, all), Put::Waits);
        }
        assert_eq!(queue.put(MOST_OWED, all), Put::Full);
        // What is due no more makes room.
        assert_eq!(queue.put(MOST_OWED, |number| *number != 1), Put::Waits);
        for number in (0..=MOST_OWED).filter(|number| *number != 1) {
            assert_eq!(queue.next(), Some(number));
        }
        assert_eq!(queue.next(), None);
        // The task is gone: the next one brings another.
        assert_eq!(queue.put(0, all), Put::First);
    }

    #[test]
    fn pauses_grow_to_their_limit() {
        let mut pause = FIRST_PAUSE;
        for seconds in [2, 4, 8, 15, 15] {
            pause = next_pause(pause);
            assert_eq!(pause.as_secs(), seconds);
        }
    }
}
