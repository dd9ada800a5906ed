//! The controls of forms: each with its label, its hint and what is wrong with it, tied together for screen readers.

use askama::Template;

use crate::sent::Sent;
use crate::told::Told;

/// A line of text, or something that browsers check like one.
#[derive(Template)]
#[template(path = "field/input.html")]
pub(crate) struct Input {
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    value: String,
    hint: &'static str,
    error: Option<String>,
    autocomplete: &'static str,
    is_required: bool,
}

impl Input {
    pub(crate) const fn new(kind: &'static str, name: &'static str, label: &'static str) -> Self {
        Self {
            name,
            label,
            kind,
            value: String::new(),
            hint: "",
            error: None,
            autocomplete: "off",
            is_required: true,
        }
    }

    pub(crate) const fn text(name: &'static str, label: &'static str) -> Self {
        Self::new("text", name, label)
    }

    pub(crate) const fn password(name: &'static str, label: &'static str) -> Self {
        Self::new("password", name, label)
    }

    pub(crate) fn value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    pub(crate) const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    /// The word of HTML by which browsers and password managers know what belongs here.
    pub(crate) const fn autocomplete(mut self, word: &'static str) -> Self {
        self.autocomplete = word;
        self
    }

    pub(crate) const fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }

    pub(crate) fn told(mut self, told: &Told) -> Self {
        self.error = told.at(self.name);
        self
    }

    /// With what was sent, and what is wrong with it.
    pub(crate) fn sent(self, sent: &Sent) -> Self {
        let name = self.name;
        self.value(sent.text(name)).told(&sent.told)
    }
}

/// Several lines of text.
#[derive(Template)]
#[template(path = "field/area.html")]
pub(crate) struct Area {
    name: &'static str,
    label: &'static str,
    value: String,
    hint: &'static str,
    rows: u8,
    error: Option<String>,
}

impl Area {
    pub(crate) const fn new(name: &'static str, label: &'static str, rows: u8) -> Self {
        Self {
            name,
            label,
            value: String::new(),
            hint: "",
            rows,
            error: None,
        }
    }

    pub(crate) fn value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    pub(crate) const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    pub(crate) fn told(mut self, told: &Told) -> Self {
        self.error = told.at(self.name);
        self
    }

    /// With what was sent, and what is wrong with it.
    pub(crate) fn sent(self, sent: &Sent) -> Self {
        let name = self.name;
        self.value(sent.text(name)).told(&sent.told)
    }
}

/// One of a few words, or several of them.
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

impl Choice {
    pub(crate) fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            label: label.into(),
            is_chosen: false,
        }
    }

    /// Words that are their own labels.
    pub(crate) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        words
            .into_iter()
            .map(|word| Self::new(word, word))
            .collect()
    }
}

/// One choice of a list.
#[derive(Template)]
#[template(path = "field/select.html")]
pub(crate) struct Select {
    name: &'static str,
    label: &'static str,
    choices: Vec<Choice>,
    hint: &'static str,
    error: Option<String>,
}

impl Select {
    pub(crate) const fn new(name: &'static str, label: &'static str, choices: Vec<Choice>) -> Self {
        Self {
            name,
            label,
            choices,
            hint: "",
            error: None,
        }
    }

    pub(crate) const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    pub(crate) fn chosen(mut self, value: &str) -> Self {
        for choice in &mut self.choices {
            choice.is_chosen = choice.value == value;
        }
        self
    }

    pub(crate) fn told(mut self, told: &Told) -> Self {
        self.error = told.at(self.name);
        self
    }

    /// With what was sent, and what is wrong with it.
    pub(crate) fn sent(self, sent: &Sent) -> Self {
        let name = self.name;
        self.chosen(sent.text(name)).told(&sent.told)
    }
}

/// Any number of choices, each with a box.
#[derive(Template)]
#[template(path = "field/boxes.html")]
pub(crate) struct Boxes {
    name: &'static str,
    label: &'static str,
    choices: Vec<Choice>,
    hint: &'static str,
    error: Option<String>,
}

impl Boxes {
    pub(crate) const fn new(name: &'static str, label: &'static str, choices: Vec<Choice>) -> Self {
        Self {
            name,
            label,
            choices,
            hint: "",
            error: None,
        }
    }

    pub(crate) const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    /// The boxes that are ticked.
    pub(crate) fn ticked<'a>(mut self, values: impl IntoIterator<Item = &'a str>) -> Self {
        let values: Vec<&str> = values.into_iter().collect();
        for choice in &mut self.choices {
            choice.is_chosen = values.contains(&choice.value.as_str());
        }
        self
    }

    pub(crate) fn told(mut self, told: &Told) -> Self {
        self.error = told.at(self.name);
        self
    }

    /// With what was sent, and what is wrong with it.
    pub(crate) fn sent(self, sent: &Sent) -> Self {
        let name = self.name;
        self.ticked(sent.all(name)).told(&sent.told)
    }
}
