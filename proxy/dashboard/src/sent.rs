//! What was sent with the form of a page, and what came of it: all that the page needs to show the form again.

use http::StatusCode;
use svc_core::fault::Fault;

use crate::form::Fields;
use crate::told::Told;

/// A form once it was sent, or before.
pub(crate) struct Sent {
    /// What the page is sent with.
    pub(crate) status: StatusCode,
    /// What stands in the form; nothing where it starts from what is stored, or empty.
    pub(crate) fields: Option<Fields>,
    pub(crate) told: Told,
}

impl Sent {
    /// Nothing yet: the page was opened.
    pub(crate) fn nothing() -> Self {
        Self::done(StatusCode::OK)
    }

    /// It has done what it says, and starts anew.
    pub(crate) fn done(status: StatusCode) -> Self {
        Self {
            status,
            fields: None,
            told: Told::default(),
        }
    }

    /// It was tried, and stays as it was filled in.
    pub(crate) fn tried(fields: Fields) -> Self {
        Self {
            fields: Some(fields),
            ..Self::nothing()
        }
    }

    /// It was refused, and stays as it was filled in, with what is wrong.
    ///
    /// # Errors
    /// The fault itself where it is no answer to a form ([`Told::of_form`]).
    pub(crate) fn refused(fault: Fault, fields: Fields) -> Result<Self, Fault> {
        Ok(Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            fields: Some(fields),
            told: Told::of_form(fault)?,
        })
    }

    /// With these fields in the form where nothing was sent.
    pub(crate) fn else_showing(mut self, stored: &Fields) -> Self {
        self.fields.get_or_insert_with(|| stored.clone());
        self
    }

    /// As [`Told::moved`].
    pub(crate) fn moved(mut self, path: &str, field: &str) -> Self {
        self.told = self.told.moved(path, field);
        self
    }

    /// As [`Fields::text`].
    pub(crate) fn text(&self, name: &str) -> &str {
        let fields = self.fields.as_ref();
        fields.map(|fields| fields.text(name)).unwrap_or_default()
    }

    /// As [`Fields::filled`].
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.fields.as_ref()?.filled(name)
    }

    /// As [`Fields::sent`].
    pub(crate) fn sent(&self, name: &str) -> Option<&str> {
        self.fields.as_ref()?.sent(name)
    }

    /// As [`Fields::all`].
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.fields.iter();
        fields.flat_map(move |fields| fields.all(name))
    }
}
