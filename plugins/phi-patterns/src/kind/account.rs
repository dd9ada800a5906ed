//! The names of accounts: `user: jdoe`, `logged in as rmendez4`. What programs and their texts say of users in general
//! is none: `{"role": "user", "content": …}`.

use crate::text::{begins_with, byte, byte_before, is_word};
use crate::trigger::{TRIGGERS, Trigger};

/// Whether the code behind a label of accounts is the name of one: `the username field` has none.
pub(super) fn is_one(
    text: &[u8],
    label: (usize, usize),
    code: (usize, usize),
    is_said_of: bool,
) -> bool {
    let name = text.get(code.0..code.1).unwrap_or_default();
    let between = text.get(label.1..code.0).unwrap_or_default();
    let head = byte_before(text, label.0);
    let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
    let said = text.get(label.0..label.1).unwrap_or_default();
    let behind = text.get(code.1..).unwrap_or_default();
    // `POSTGRES_USER: app` is a program's own; `fix-login` is a name of something else.
    let is_setting = head == b'_' && digits == 0 && !said.iter().any(u8::is_ascii_lowercase);
    let is_path = between.starts_with(b"::");
    let is_called = matches!(byte(behind, 0), b'(' | b'[')
        || behind.starts_with(b"::")
        || behind.starts_with(b" {")
        || is_member_called(behind)
        || byte(behind, 0) == b'<' && behind.get(1).is_some_and(u8::is_ascii_uppercase);
    if is_nobody(name)
        || is_setting
        || is_path
        || is_called
        || matches!(head, b'-' | b'/')
        || is_value(text, label)
        || is_plain_in_chat(said, between, name, behind)
        || is_apart(between)
        || is_next_sentence(between)
        || is_speech(said, between, name, behind)
    {
        return false;
    }
    // A quote that closes before the code says nothing, and what a menu or a table goes on with is another word.
    let is_quoted = matches!(between.last(), Some(b'"' | b'\'' | b'`'));
    let has_tag = between.contains(&b'<');
    let has_mark = !has_tag && between.iter().any(|byte| b":=@#".contains(byte));
    let is_marked = between.iter().any(|byte| b"<>|".contains(byte));
    let is_plain = name.iter().all(u8::is_ascii_alphabetic);
    let is_from = behind.strip_prefix(b" from ");
    let is_from_address = is_from.is_some_and(|rest| byte(rest, 0).is_ascii_digit());
    // `UnknownUser('could not be found')`.
    let is_prose = begins_with(name, VERBS) && goes_on(behind);
    if is_from_address
        || is_quoted && !is_prose
        || (has_mark || is_marked && !is_plain) && digits > 0
    {
        return true;
    }
    if has_mark || is_marked && !is_plain {
        return !(is_expression(name) || is_plain && goes_on(behind));
    }
    // `logged in as Delphine.Okafor`.
    let is_dotted = || {
        let mut parts = name.split(|byte| *byte == b'.');
        let is_word = |part: &[u8]| part.len() > 2 && part.iter().all(u8::is_ascii_alphabetic);
        parts.clone().count() == 2 && parts.all(is_word) && !is_expression(name)
    };
    if digits == 0 {
        return said.contains(&b' ') && said.ends_with(b"as") && between == b" " && is_dotted();
    }
    let is_user = said.eq_ignore_ascii_case(b"user");
    let is_right_behind = between == b" " && is_login(name);
    is_said_of && !is_user
        || said.contains(&b' ')
        || is_right_behind && (!is_user || begins_with(behind, DEEDS))
        || !is_user
            && said.len() > "login".len()
            && TRIGGERS
                .get(said)
                .is_some_and(|trigger| matches!(trigger, Trigger::Label(..)))
}

/// `Discord: marital`: what messengers are called are words of every day too, so only a name with a sign or a digit is
/// one there.
fn is_plain_in_chat(said: &[u8], between: &[u8], name: &[u8], behind: &[u8]) -> bool {
    let is_of_chat = ["discord", "telegram"]
        .iter()
        .any(|word| said.eq_ignore_ascii_case(word.as_bytes()));
    let has_sign = name
        .iter()
        .any(|byte| byte.is_ascii_digit() || b"._".contains(byte));
    is_of_chat && !has_sign && !between.contains(&b'@') && byte(behind, 0) != b'#'
}

/// `for the user. Then …`, `of the user.\n- `timeout``: the sentence of the label has ended.
fn is_next_sentence(between: &[u8]) -> bool {
    between
        .windows(2)
        .any(|pair| matches!(pair, [b'.', next] if next.is_ascii_whitespace()))
        || between.windows(2).any(|pair| pair == b"__")
}

/// `User: Wow, that was …`, `User: "Update the …"`, `user: don't mock`, `your user `settings.json``: what somebody says to
/// an assistant and what files are called, behind a word of every day.
fn is_speech(said: &[u8], between: &[u8], name: &[u8], behind: &[u8]) -> bool {
    let is_of_every_day = ["user", "login", "handle"]
        .iter()
        .any(|word| said.eq_ignore_ascii_case(word.as_bytes()));
    if !is_of_every_day || name.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let is_login = said.eq_ignore_ascii_case(b"login");
    let is_letters = name.iter().all(u8::is_ascii_alphabetic);
    let is_capital = is_letters
        && byte(name, 0).is_ascii_uppercase()
        && name.iter().skip(1).all(u8::is_ascii_lowercase);
    // Of a quote it is all, or a word of what is said.
    let quote = between.last().filter(|sign| b"\"'`".contains(sign));
    let goes_on_in_quote = matches!(behind, [b' ', next, ..] if next.is_ascii_alphabetic() || *next == b'=')
        || is_capital && matches!(behind, [b'.' | b'!' | b'?', b'"' | b'\'', ..]);
    let is_code = quote == Some(&b'`') && is_file(name);
    // `don't`, but `mgarcia's`.
    let is_cut = matches!(behind, [b'\'', letter, ..] if letter.is_ascii_alphabetic())
        && !behind.starts_with(b"'s");
    let is_first = is_capital
        && behind.starts_with(b", ")
        && !begins_with(behind.get(1..).unwrap_or_default(), BESIDE)
        && !begins_with(behind.get(1..).unwrap_or_default(), DEEDS);
    let goes_on = is_capital
        && !is_login
        && matches!(behind, [b' ', next, ..] if next.is_ascii_lowercase())
        && !begins_with(behind, DEEDS);
    quote.is_some() && goes_on_in_quote || is_code || is_cut || is_first || goes_on
}

/// `settings.json`
fn is_file(name: &[u8]) -> bool {
    const ENDS: [&[u8]; 12] = [
        b"json", b"toml", b"yaml", b"yml", b"md", b"txt", b"env", b"conf", b"ini", b"lock", b"js",
        b"py",
    ];
    let end = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    end.len() < name.len() && ENDS.contains(&end)
}

/// `login: schema.string()`: behind a name, one of its members is called.
fn is_member_called(behind: &[u8]) -> bool {
    let member = behind.strip_prefix(b".").unwrap_or_default();
    let len = member.iter().take_while(|byte| is_word(**byte)).count();
    len > 0 && byte(member, len) == b'('
}

/// `"role": "user"`, `["user", "email"]`: a label in quotes whose own value does not follow is a value itself.
fn is_value(text: &[u8], (start, end): (usize, usize)) -> bool {
    let quote = byte_before(text, start);
    let rest = text.get(end..).unwrap_or_default();
    let rest = rest.strip_prefix(b"\\").unwrap_or(rest);
    if !matches!(quote, b'"' | b'\'' | b'`') || byte(rest, 0) != quote {
        return false;
    }
    let rest = rest.get(1..).unwrap_or_default().trim_ascii_start();
    let rest = rest.strip_prefix(b"]").unwrap_or(rest).trim_ascii_start();
    let head = text.get(..start - 1).unwrap_or_default();
    let head = head.strip_suffix(b"\\").unwrap_or(head);
    let blanks = head
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    let last = byte_before(head, head.len() - blanks.count());
    // `if role == "user": content = …`.
    let is_compared = last == b'=' || last == b':' || is_word(last);
    !matches!(byte(rest, 0), b':' | b'=') || is_compared && quote != b'`'
}

/// `user, content`, `(user) -> anyhow`: what stands between says that another thing follows.
fn is_apart(between: &[u8]) -> bool {
    let closes = between.contains(&b')') && !between.contains(&b'(');
    closes || between.iter().any(|byte| b",?".contains(byte))
}

/// `request.user`, `models.User`: a place in a program and no name.
pub(super) fn is_expression(name: &[u8]) -> bool {
    const OWNERS: [&[u8]; 9] = [
        b"self", b"this", b"request", b"req", b"models", b"auth", b"session", b"ctx", b"process",
    ];
    let mut parts = name.split(|byte| *byte == b'.');
    let is_owned = parts
        .next()
        .is_some_and(|owner| owner.len() < name.len() && OWNERS.contains(&owner));
    // `user_id: accepted_by_user_id`.
    let names_the_label = ["user", "handle"].iter().any(|label| {
        name.windows(label.len())
            .any(|part| part.eq_ignore_ascii_case(label.as_bytes()))
    });
    is_owned || names_the_label && !name.iter().any(u8::is_ascii_digit)
}

/// Whether a sentence goes on behind a word that is written as any other: `Login: ask your manager`.
fn goes_on(behind: &[u8]) -> bool {
    let [b' ', next, ..] = behind else {
        return false;
    };
    next.is_ascii_lowercase() && !begins_with(behind, DEEDS) && !begins_with(behind, BESIDE)
}

/// What stands behind the name of an account in the same line.
const BESIDE: &[&str] = &[
    "on", "at", "from", "in", "and", "is", "was", "has", "had", "for", "with", "pw", "pass", "pwd",
    "password", "pin", "role", "ip", "action", "host", "session", "time", "event", "status",
    "reset", "did", "changed", "deleted", "updated", "added", "to", "tried", "logs", "cannot",
    "can't", "says",
];

/// What a sentence about an account that is not named goes on with.
const VERBS: &[&str] = &[
    "could", "cannot", "can", "did", "does", "has", "is", "may", "must", "should", "was", "will",
    "would",
];

/// What is told of somebody's account.
const DEEDS: &[&str] = &[
    "logged",
    "login",
    "signed",
    "failed",
    "denied",
    "accessed",
    "opened",
    "viewed",
    "attempted",
    "locked",
    "printed",
    "exported",
];

/// `rmendez4`: small letters with a few digits behind them, and no name of a protocol.
fn is_login(name: &[u8]) -> bool {
    const OTHERS: &[&str] = &[
        "oauth2", "saml2", "auth0", "web3", "http2", "http3", "sha1", "sha256", "sha512", "utf8",
        "ipv4", "ipv6", "base64", "x509", "page1", "page2", "step1", "step2", "step3", "test1",
        "test2", "user1", "user2", "form1", "mfa2", "version2", "type1", "type2",
    ];
    let letters = name
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    let digits = name.get(letters..).unwrap_or_default();
    letters > 2
        && (1..=4).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
        && !OTHERS.iter().any(|other| name == other.as_bytes())
}

/// What stands where an account's name does and is nobody's.
const NOBODY: &[&str] = &[
    "admin",
    "root",
    "system",
    "anonymous",
    "null",
    "undefined",
    "await",
    "async",
    "function",
    "new",
    "return",
    "self",
    "this",
    "none",
    "nil",
    "true",
    "false",
    "guest",
    "user",
    "assistant",
    "unknown",
    "string",
    "text",
    "value",
    "name",
    "not",
    "and",
    "for",
    "the",
    "story",
    "agent",
    "input",
    "message",
    "interface",
    "app",
    "postgres",
    "mysql",
    "oracle",
    "mongo",
    "redis",
    "sa",
    "dba",
    "service",
    "www-data",
    "nginx",
    "ubuntu",
    "ec2-user",
    "node",
    "deploy",
    "runner",
    "api",
    "test",
    "testuser",
    "demo",
    "default",
    "example",
    "username",
    "myuser",
    "nobody",
    "you",
    "see",
    "any",
    "your",
    "his",
    "her",
    "our",
    "their",
    "all",
    "that",
    "same",
    "please",
    "required",
    "optional",
    "yes",
    "content",
    "status",
    "email",
    "mail",
    "phone",
    "password",
    "passwd",
    "pass",
    "type",
    "role",
    "level",
    "action",
    "score",
    "repo",
    "id",
    "created",
    "updated",
    "error",
    "info",
    "debug",
    "account",
    "accounts",
    "profile",
    "settings",
    "login",
    "logout",
    "signin",
    "signup",
    "session",
    "token",
    "data",
    "object",
    "tool",
    "developer",
    "nurse",
    "doctor",
    "provider",
    "patient",
    "clinician",
    "caller",
    "client",
    "snapchat",
    "instagram",
    "twitter",
    "facebook",
    "tiktok",
    "skype",
    "venmo",
    "whatsapp",
    "telegram",
    "linkedin",
    "youtube",
    "reddit",
    "discord",
    "signal",
    "bool",
    "int",
    "integer",
    "boolean",
    "str",
    "request",
    "current",
    "me",
    // What somebody says to an assistant.
    "hello",
    "hey",
    "thanks",
    "thank",
    "summarize",
    "summarise",
    "translate",
    "explain",
    "describe",
    "rewrite",
    "draft",
    "write",
    "list",
    "show",
    "help",
    "continue",
    "stop",
    "okay",
    "sure",
    "great",
    "what",
    "how",
    "why",
    "can",
];

/// Whether what stands where an account's name does is nobody's.
pub(super) fn is_nobody(code: &[u8]) -> bool {
    NOBODY
        .iter()
        .any(|word| code.eq_ignore_ascii_case(word.as_bytes()))
}
