//! What the shipped PHI detectors share: words around a place, tables of labels, and the fields of structured
//! text. A library, no plugin: it decides nothing about PHI.

pub mod abroad;
pub mod address;
pub mod chunk;
pub mod color;
pub mod fields;
pub mod label;
pub mod public;
pub mod script;
pub mod text;
