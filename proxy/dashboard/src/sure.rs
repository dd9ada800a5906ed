//! What cannot be undone is asked for twice: the button stands behind a word that opens it, with what it does.

use askama::Template;

use crate::menu::Layout;

/// The form of something that cannot be undone.
#[derive(Template)]
#[template(path = "sure.html")]
pub(crate) struct Sure<'a> {
    layout: &'a Layout,
    action: String,
    /// What it does, as its button says it.
    word: String,
    /// To what, where the page has several.
    of: String,
    consequence: String,
}

impl<'a> Sure<'a> {
    pub(crate) fn of(
        layout: &'a Layout,
        action: impl Into<String>,
        word: impl Into<String>,
        of: impl Into<String>,
        consequence: impl Into<String>,
    ) -> Self {
        Self {
            layout,
            action: action.into(),
            word: word.into(),
            of: of.into(),
            consequence: consequence.into(),
        }
    }

    /// The button behind the word.
    fn yes(&self) -> String {
        format!("Yes, {}", self.word.to_lowercase())
    }
}
