//! Whose reasoning it is: a provider takes back its own and no other (wire.md 2, points 29 and 30). Which one that was is
//! told by its driver.

use std::borrow::Cow;
use std::sync::Arc;

use super::{ChatReply, ChatRequest, Message, Part};

impl ChatRequest {
    /// Notes that reasoning whose origin is not known is this driver's.
    pub fn reasoned_by(&mut self, driver: &Arc<str>) {
        for message in &mut self.messages {
            note_driver(&mut message.content, driver);
        }
    }

    /// The request as one driver may have it: without the reasoning that is known to be another's, which its provider
    /// could only refuse.
    pub fn for_driver(&self, driver: &str) -> Cow<'_, Self> {
        let mut turns = self.messages.iter();
        if !turns.any(|turn| turn.content.iter().any(|part| part.is_anothers(driver))) {
            return Cow::Borrowed(self);
        }
        let mut chat = self.clone();
        chat.messages.retain_mut(|turn| {
            let is_left = turn.is_for(driver);
            turn.content.retain(|part| !part.is_anothers(driver));
            is_left
        });
        Cow::Owned(chat)
    }

    /// The place that a driver means by one in [`Self::for_driver`].
    pub fn place_for_driver(&self, driver: &str, place: &str) -> String {
        let found = || {
            let (at, rest) = index(place, "messages[")?;
            let turns = self.messages.iter().enumerate();
            let (turn, message) = turns.filter(|(_, turn)| turn.is_for(driver)).nth(at)?;
            let Some((at, rest)) = index(rest, ".content[") else {
                return Some(format!("messages[{turn}]{rest}"));
            };
            let parts = message.content.iter().enumerate();
            let mut left = parts.filter(|(_, part)| !part.is_anothers(driver));
            let (part, _) = left.nth(at)?;
            Some(format!("messages[{turn}].content[{part}]{rest}"))
        };
        found().unwrap_or_else(|| place.to_owned())
    }
}

/// The index behind `array`, and what follows it.
fn index<'p>(place: &'p str, array: &str) -> Option<(usize, &'p str)> {
    let (index, rest) = place.strip_prefix(array)?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

impl Message {
    /// Whether anything of it is left for a driver, or nothing was ever in it.
    fn is_for(&self, driver: &str) -> bool {
        let mut parts = self.content.iter();
        self.content.is_empty() || parts.any(|part| !part.is_anothers(driver))
    }
}

impl ChatReply {
    /// Notes which driver gave the reply, where it has reasoning.
    pub fn reasoned_by(&mut self, driver: &Arc<str>) {
        note_driver(&mut self.content, driver);
    }
}

impl Part {
    fn is_anothers(&self, driver: &str) -> bool {
        self.driver().is_some_and(|other| other != driver)
    }

    /// The driver that gave it, of reasoning and where that is known.
    pub fn driver(&self) -> Option<&str> {
        match self {
            Self::Reasoning { driver, .. } | Self::RedactedReasoning { driver, .. } => {
                driver.as_deref()
            }
            _ => None,
        }
    }
}

/// Names the driver of reasoning that names none.
fn note_driver(parts: &mut [Part], of_all: &Arc<str>) {
    for part in parts {
        if let Part::Reasoning { driver, .. } | Part::RedactedReasoning { driver, .. } = part {
            driver.get_or_insert_with(|| Arc::clone(of_all));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::*;

    #[test]
    fn a_driver_gets_no_reasoning_of_another() {
        let turn = |content: Vec<Part>| Message {
            role: Role::Assistant,
            content,
            name: None,
        };
        let thought = |driver: Option<&str>| Part::Reasoning {
            text: "hm".into(),
            signature: Some("signed".into()),
            driver: driver.map(Arc::from),
        };
        let sealed = |driver: Option<&str>| Part::RedactedReasoning {
            data: "sealed".into(),
            driver: driver.map(Arc::from),
        };
        let mut chat = ChatRequest::of_user_text("so");
        chat.messages.extend([
            turn(vec![thought(Some("a")), sealed(Some("b")), Part::text("t")]),
            turn(vec![thought(None)]),
            turn(vec![sealed(Some("b"))]),
        ]);
        let parts = |chat: &ChatRequest| {
            let turns = chat.messages.iter();
            turns.map(|turn| turn.content.len()).collect::<Vec<usize>>()
        };
        assert_eq!(parts(&chat.for_driver("a")), [1, 2, 1]);
        assert_eq!(parts(&chat.for_driver("b")), [1, 2, 1, 1]);
        assert_eq!(parts(&chat.for_driver("c")), [1, 1, 1]);
        for (driver, place, meant) in [
            (
                "a",
                "messages[1].content[1].text",
                "messages[1].content[2].text",
            ),
            ("b", "messages[3].content[0]", "messages[3].content[0]"),
            ("c", "messages[1].content[0]", "messages[1].content[2]"),
            ("c", "messages[2]", "messages[2]"),
            ("c", "messages[3]", "messages[3]"),
            ("c", "tools[0].name", "tools[0].name"),
        ] {
            assert_eq!(chat.place_for_driver(driver, place), meant, "{driver}");
        }
        chat.messages.swap(1, 3);
        let moved = chat.place_for_driver("a", "messages[2].content[1]");
        assert_eq!(moved, "messages[3].content[2]");
        chat.messages.swap(1, 3);
        chat.reasoned_by(&"b".into());
        assert_eq!(parts(&chat.for_driver("a")), [1, 2]);
        assert!(matches!(
            ChatRequest::of_user_text("so").for_driver("a"),
            Cow::Borrowed(_)
        ));
    }
}
