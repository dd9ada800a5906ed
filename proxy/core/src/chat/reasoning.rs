//! Whose reasoning it is: a provider takes back its own and no other (wire.md 2, points 29 and 30). Which one that was is
//! told by its driver.

use std::borrow::Cow;
use std::sync::Arc;

use super::{ChatReply, ChatRequest, Part};

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
        let is_anothers = |part: &Part| part.driver().is_some_and(|other| other != driver);
        let mut turns = self.messages.iter();
        if !turns.any(|message| message.content.iter().any(is_anothers)) {
            return Cow::Borrowed(self);
        }
        let mut chat = self.clone();
        chat.messages.retain_mut(|message| {
            let had_content = !message.content.is_empty();
            message.content.retain(|part| !is_anothers(part));
            !had_content || !message.content.is_empty()
        });
        Cow::Owned(chat)
    }
}

impl ChatReply {
    /// Notes which driver gave the reply, where it has reasoning.
    pub fn reasoned_by(&mut self, driver: &Arc<str>) {
        note_driver(&mut self.content, driver);
    }
}

impl Part {
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
    use super::super::{Message, Role};
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
        chat.reasoned_by(&"b".into());
        assert_eq!(parts(&chat.for_driver("a")), [1, 2]);
        assert!(matches!(
            ChatRequest::of_user_text("so").for_driver("a"),
            Cow::Borrowed(_)
        ));
    }
}
