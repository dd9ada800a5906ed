//! The native surface as its callers see it: transcripts of `POST /v1/ai/chat` (spec, Endpoints and Events).

mod conversation;
mod options;
mod record;
mod tools;
mod transcript;
mod version;
