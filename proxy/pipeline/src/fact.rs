//! Facts: what filters establish about an exchange and what later steps build on.
//!
//! Policy loading checks that every step finds the facts it needs. Since each gate needs the fact of the gate
//! before it, a pipeline that loads keeps the order of checks of contract section 2.

use std::fmt;

/// One thing that is known about an exchange from some filter on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    Caller,
    Version,
    Authorized,
    Delegated,
    Admitted,
    Chat,
    Granted,
    Conversation,
    AiAllowed,
    Model,
    Eligible,
    Baa,
    Reservation,
    Metered,
    PhiScan,
    Intent,
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Caller => "the caller",
            Self::Version => "the API version",
            Self::Authorized => "the authorized scope",
            Self::Delegated => "the delegating user",
            Self::Admitted => "the rate-limit admission",
            Self::Chat => "the decoded chat",
            Self::Granted => "the agent's grant",
            Self::Conversation => "the conversation",
            Self::AiAllowed => "the AI switch",
            Self::Model => "the model choice",
            Self::Eligible => "the HIPAA eligibility",
            Self::Baa => "the BAA",
            Self::Reservation => "the credit reservation",
            Self::Metered => "the metering",
            Self::PhiScan => "the PHI scan",
            Self::Intent => "the audit intent",
        })
    }
}
