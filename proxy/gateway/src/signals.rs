//! Signals by which other programs ask for files to be read again, or that they send for reasons of their own. None of
//! them ends the gateway; those that do are the edge's.

use tokio::signal::unix::{Signal, SignalKind, signal};

use svc_pipeline::gateway::Gateway;

pub(crate) struct Signals {
    hangup: Signal,
    /// What nobody asks for anything with; the system would end the process.
    idle: [Signal; 3],
}

impl Signals {
    /// From here on none of them ends the process. Call it inside a runtime.
    ///
    /// # Errors
    /// When the system takes no handlers.
    pub(crate) fn watch() -> std::io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            idle: [
                signal(SignalKind::user_defined1())?,
                signal(SignalKind::user_defined2())?,
                signal(SignalKind::alarm())?,
            ],
        })
    }

    /// Has policies and plugins read again at each SIGHUP, for as long as the process lives.
    pub(crate) async fn follow(self, gateway: &Gateway) {
        let Self {
            mut hangup,
            idle: _idle,
        } = self;
        while hangup.recv().await.is_some() {
            tracing::info!(
                "SIGHUP: policies and plugins are read again; so they are, and the certificate, whenever they change"
            );
            gateway.policies.read_again();
            gateway.plugins.rescan().await;
        }
    }
}
