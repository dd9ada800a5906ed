//! The text side of PHI Guard: where text stands in a request, what is replaced, and how it comes back.
//!
//! Pure: detectors run elsewhere, between [`TextScan::of`] and [`merge`]. One request goes through `TextScan::of` →
//! detectors → [`merge`] → [`sweep`] → [`refusal`] or [`redact`]; its reply through [`ReplyRedactor`], which has its
//! own pieces scanned, and [`ReplyRestorer`]. Content reaches neither an error nor a `Debug` here: offsets, kinds and
//! counts do.

mod assistant;
pub mod call_id;
mod counts;
mod kind;
mod lists;
mod map;
mod merge;
mod model_name;
mod narrow;
mod normal;
mod promised;
mod redact;
mod redactor;
pub mod refusal;
mod reply;
mod restore;
mod scan;
mod script;
mod seam;
mod sweep;
mod token;
mod visit;

pub use counts::{Counts, ENTITIES_HEADER};
pub use kind::{ENTITY_KINDS, EntityKind, Kind, MAX_KIND_BYTES};
pub use lists::{
    Allowed, DIGEST_BYTES, ListEntry, ListKey, ListedValue, Listing, MAX_LISTED_BYTES,
    MIN_LISTED_CHARS, Mentions, Unlistable, ValueLists,
};
pub use map::{BadMap, Contradicted, Kept, PlaceholderMap, Speaker};
pub use merge::{CERTAIN, Candidate, Finding, Weight, merge};
pub use narrow::{NARROWER_KINDS, narrower};
pub use normal::is_unseen;
pub use promised::may_hold_placeholders;
pub use redact::{Listener, Shifted, redact};
pub use redactor::{Answer, Inquiry, ReplyRedactor, Step, Unjudged};
pub use refusal::{leave_in_fixed_text, leave_in_reply, leave_pseudonyms};
pub use reply::ReplyRestorer;
pub use restore::{Channel, RestoreTable, Restorer, restore};
pub use scan::{Segment, TextScan};
pub use sweep::{TooManyMentions, sweep};
pub use visit::{Form, Joint, Spot, Visitor, looks_sealed, visit};

/// Where a piece of the text came from, as detectors are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    SystemPrompt,
    UserText,
    AssistantText,
    ToolName,
    ToolDescription,
    ToolSchema,
    ToolArguments,
    ToolResult,
    Metadata,
    Other,
}

#[cfg(test)]
mod tests;
