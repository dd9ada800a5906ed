//! What a provider's failure is to a caller (contract 21, Upstream failures). No word of the provider is in it.

use svc_core::fault::{Code, Fault, invalid};
use svc_plugin::{DriverFailure, DriverFault, DriverFaultKind, Failed};

use super::breaker::Health;
use crate::exchange::LONGEST_USEFUL_WAIT_SECONDS;
use crate::phi::FOREIGN_THINKING;
use crate::upstream::UpstreamError;

/// A call that failed, and what that says about the provider.
pub(super) struct Failure {
    pub(super) fault: Fault,
    pub(super) health: Health,
}

impl From<UpstreamError> for Failure {
    fn from(error: UpstreamError) -> Self {
        let health = match error {
            UpstreamError::Forbidden => Health::Unknown,
            _ => Health::Failing,
        };
        Self {
            fault: upstream_fault(error),
            health,
        }
    }
}

impl From<Failed<DriverFailure>> for Failure {
    fn from(failed: Failed<DriverFailure>) -> Self {
        let health = match &failed.error {
            DriverFailure::Plugin(_) => Health::Unknown,
            DriverFailure::Fault(fault) => match fault.kind {
                DriverFaultKind::UnsupportedParameter => Health::Unknown,
                DriverFaultKind::Overloaded
                | DriverFaultKind::UpstreamFailure
                | DriverFaultKind::Protocol
                | DriverFaultKind::Internal
                | DriverFaultKind::Other => Health::Failing,
                DriverFaultKind::RateLimited
                | DriverFaultKind::UpstreamAuth
                | DriverFaultKind::ModelUnavailable => Health::Refusing,
                // The provider works; it is this request that it does not take.
                DriverFaultKind::InvalidRequest
                | DriverFaultKind::ContentRefused
                | DriverFaultKind::ContextTooLong => Health::Sound,
            },
        };
        Self {
            fault: driver_fault(&failed),
            health,
        }
    }
}

impl Failure {
    /// As the provider asked in the head of its answer, where trying again may help at all.
    pub(super) fn told_to_wait(mut self, wait_ms: Option<u64>) -> Self {
        if let Some(wait_ms) = wait_ms
            && self.fault.retry_after_seconds().is_some()
        {
            self.fault = self.fault.retry_after(passed_on(wait_ms));
        }
        self
    }
}

/// What a driver found before anything was sent: it says nothing about the provider.
pub(super) fn before_sending(failed: Failed<DriverFailure>) -> Failure {
    Failure {
        fault: driver_fault(&failed),
        health: Health::Unknown,
    }
}

/// A fault of the gateway's own side.
impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            health: Health::Unknown,
        }
    }
}

/// A connection that failed: the provider's layer, and worth another try.
fn upstream_fault(error: UpstreamError) -> Fault {
    Code::InferenceUpstreamFailure
        .fault()
        .from_provider()
        .because(format_args!("upstream: {error}"))
}

/// A driver that reports a failure, or that failed itself.
fn driver_fault(failed: &Failed<DriverFailure>) -> Fault {
    let cause = format!("driver: {failed}");
    match &failed.error {
        DriverFailure::Plugin(_) => Fault::unavailable(cause),
        DriverFailure::Fault(fault) => reported(fault, &cause),
    }
}

fn reported(fault: &DriverFault, cause: &str) -> Fault {
    let failed = || {
        Code::InferenceUpstreamFailure
            .fault()
            .from_provider()
            .because(cause)
    };
    let rejected = |reason: &str| failed().never_retry().detail("reason", reason);
    // Client libraries look for these words, and one surface has no place for the reason.
    let too_long = || {
        let mut fault = rejected("context_too_long");
        fault.message = "The model provider refused the request: prompt is too long.".into();
        fault
    };
    match fault.kind {
        DriverFaultKind::UnsupportedParameter => {
            let message = match fault.param.as_deref() {
                Some("signature") => {
                    format!("The model provider refused the request: {FOREIGN_THINKING}.")
                }
                _ => "The model's provider does not take this parameter.".to_owned(),
            };
            let unsupported = Fault::new(Code::UnsupportedParameter, message);
            let unsupported = unsupported.because(cause);
            match &fault.param {
                Some(param) => unsupported.at(param),
                None => unsupported,
            }
        }
        DriverFaultKind::InvalidRequest | DriverFaultKind::ContentRefused => match &fault.param {
            // The driver itself found it, before anything was sent: a provider's words name nothing.
            Some(param) => invalid(param, "does not fit the model's provider").because(cause),
            None => rejected("provider_rejected"),
        },
        DriverFaultKind::ContextTooLong => too_long(),
        DriverFaultKind::RateLimited
        | DriverFaultKind::Overloaded
        | DriverFaultKind::UpstreamAuth
        | DriverFaultKind::ModelUnavailable
        | DriverFaultKind::UpstreamFailure
        | DriverFaultKind::Protocol
        | DriverFaultKind::Internal
        | DriverFaultKind::Other => match fault.retry_after_ms {
            Some(wait_ms) => failed().retry_after(passed_on(wait_ms)),
            None => failed(),
        },
    }
}

/// Seconds to wait, of what a provider asks for. It may name any time, by mistake too, and some SDKs sleep through all
/// of it (wire.md 1).
fn passed_on(wait_ms: u64) -> u64 {
    wait_ms.div_ceil(1_000).min(LONGEST_USEFUL_WAIT_SECONDS)
}

#[cfg(test)]
mod tests {
    use svc_plugin::{KillReason, PluginError};

    use super::*;

    fn of_driver(error: DriverFailure) -> Failed<DriverFailure> {
        Failed {
            plugin: "provider-gamma@1.2.3".into(),
            error,
        }
    }

    #[test]
    fn the_cause_names_the_driver_and_its_version() {
        let ended = PluginError::Killed(KillReason::Deadline);
        let fault = driver_fault(&of_driver(ended.into()));
        assert_eq!(
            fault.cause(),
            Some("driver: provider-gamma@1.2.3: the plugin was ended: deadline")
        );
        let reported = self::fault(DriverFaultKind::UpstreamAuth);
        assert!(
            reported
                .cause()
                .is_some_and(|cause| cause.contains("gamma@1.2.3"))
        );
    }

    fn fault(kind: DriverFaultKind) -> Fault {
        fault_after(kind, 1_500)
    }

    fn fault_after(kind: DriverFaultKind, wait_ms: u64) -> Fault {
        let fault = DriverFault {
            kind,
            param: None,
            upstream_code: Some("some_error".into()),
            retryable: true,
            retry_after_ms: Some(wait_ms),
        };
        driver_fault(&of_driver(DriverFailure::Fault(fault)))
    }

    #[test]
    fn what_a_provider_rejects_is_not_worth_a_retry() {
        for (kind, reason) in [
            (DriverFaultKind::InvalidRequest, "provider_rejected"),
            (DriverFaultKind::ContextTooLong, "context_too_long"),
        ] {
            let fault = fault(kind);
            assert_eq!(
                (fault.code, fault.retryable),
                (Code::InferenceUpstreamFailure, false)
            );
            assert_eq!(fault.details_value()["reason"], reason);
            assert_eq!(fault.retry_after_seconds(), None);
        }
    }

    #[test]
    fn what_a_driver_finds_wrong_is_the_callers_to_mend() {
        let found = DriverFault {
            kind: DriverFaultKind::InvalidRequest,
            param: Some("response_format".into()),
            upstream_code: Some("no_json_word".into()),
            retryable: false,
            retry_after_ms: None,
        };
        let fault = driver_fault(&of_driver(DriverFailure::Fault(found)));
        assert_eq!(
            (fault.code, fault.param.as_deref(), fault.retryable),
            (Code::ValidationFailed, Some("response_format"), false)
        );
    }

    #[test]
    fn the_providers_own_credentials_problem_is_a_plain_upstream_failure() {
        let fault = fault(DriverFaultKind::UpstreamAuth);
        assert_eq!((fault.code.row().status, fault.retryable), (502, true));
        assert!(fault.param.is_none() && !fault.message.contains("some_error"));
    }

    #[test]
    fn a_providers_wait_is_passed_on_in_whole_seconds() {
        for kind in [
            DriverFaultKind::RateLimited,
            DriverFaultKind::Overloaded,
            DriverFaultKind::UpstreamFailure,
            DriverFaultKind::Other,
        ] {
            assert_eq!(fault(kind).retry_after_seconds(), Some(2), "{kind:?}");
        }
    }

    #[test]
    fn a_wait_without_an_end_is_not_passed_on() {
        for kind in [DriverFaultKind::RateLimited, DriverFaultKind::Overloaded] {
            for (wait_ms, told) in [(60_000, 60), (60_001, 60), (u64::MAX, 60)] {
                let fault = fault_after(kind, wait_ms);
                assert_eq!(fault.retry_after_seconds(), Some(told));
            }
        }
    }
}
