//! Writes events as server-sent events, plainly or with every oddity that the format allows.

use bytes::Bytes;

use crate::fake_provider::format::Event;
use crate::fake_provider::script::{Behaviour, LineEnd};

const BOM: &str = "\u{FEFF}";

/// An event as most providers write it.
pub(crate) fn plain(event: &Event) -> Bytes {
    let data = event.data.line();
    let mut out = String::with_capacity(event.name.len() + data.len() + 16);
    if !event.name.is_empty() {
        out.push_str("event: ");
        out.push_str(event.name);
        out.push('\n');
    }
    out.push_str("data: ");
    out.push_str(&data);
    out.push_str("\n\n");
    out.into()
}

/// Where an event stands in its stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) first: bool,
    pub(crate) last: bool,
}

/// An event with the oddities that a behaviour asks for.
pub(crate) fn odd(event: &Event, behaviour: &Behaviour, place: Place) -> Bytes {
    let mut lines = Vec::new();
    let space = if behaviour.no_space { "" } else { " " };
    if behaviour.comments {
        lines.push(": keep-alive".to_owned());
        lines.push(":".to_owned());
    }
    if behaviour.id_and_retry {
        lines.push(format!("id:{space}7"));
        lines.push(format!("retry:{space}3000"));
    }
    if !event.name.is_empty() {
        lines.push(format!("event:{space}{}", event.name));
    }
    let data = if behaviour.multi_line_data {
        event.data.lines()
    } else {
        event.data.line()
    };
    lines.extend(data.lines().map(|line| format!("data:{space}{line}")));
    let end = match behaviour.line_end {
        LineEnd::Lf => "\n",
        LineEnd::Crlf => "\r\n",
        LineEnd::Cr => "\r",
    };
    let mut out = String::new();
    if behaviour.bom && place.first {
        out.push_str(BOM);
    }
    out.push_str(&lines.join(end));
    if !(behaviour.unterminated && place.last) {
        out.push_str(end);
        out.push_str(end);
    }
    out.into()
}
