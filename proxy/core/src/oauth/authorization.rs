//! The authorization request (contract 16.3): parameters in, a verdict out. First who asks and where the answer goes,
//! which a page has to say where it is wrong; then everything else, which the application is told at its own address.

use url::form_urlencoded;

use super::detail::{self, Detail};
use super::pkce;
use crate::id::IdKind;

/// What a request says, each parameter by itself. Unknown ones mean nothing.
pub struct Parameters {
    client_id: Sent,
    redirect_uri: Sent,
    response_type: Sent,
    code_challenge: Sent,
    code_challenge_method: Sent,
    agent_id: Sent,
    authorization_details: Sent,
    /// As it stands in the query: it goes back like that.
    state: Sent,
}

/// How a parameter was sent. An empty one is an absent one (OAuth 2.1, 3.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Sent {
    #[default]
    Absent,
    Once(String),
    Repeated,
}

/// Why nothing can be told to the application: its own name or address is in doubt. Words for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt(pub &'static str);

/// What the application is told at its own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub error: Error,
    /// ASCII, without quotes and backslashes (RFC 6749, 4.1.2.1).
    pub description: &'static str,
}

/// RFC 6749, 4.1.2.1, and RFC 9396, 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    InvalidRequest,
    UnsupportedResponseType,
    InvalidAuthorizationDetails,
    AccessDenied,
    ServerError,
    TemporarilyUnavailable,
}

impl Error {
    /// The word of the parameter `error`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidAuthorizationDetails => "invalid_authorization_details",
            Self::AccessDenied => "access_denied",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }

    /// This error with these words, which must be fit for [`Refusal::description`].
    pub const fn because(self, description: &'static str) -> Refusal {
        Refusal {
            error: self,
            description,
        }
    }
}

/// A request that says everything it has to. Whether there is such an agent is not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// 43 characters of base64url: the SHA-256 of the verifier (`S256`, the only method).
    pub code_challenge: String,
    /// Has the form of an agent's id.
    pub agent_id: String,
    pub details: Vec<Detail>,
}

impl Parameters {
    /// Takes a query apart.
    pub fn read(query: &str) -> Self {
        let mut found = Self {
            client_id: Sent::default(),
            redirect_uri: Sent::default(),
            response_type: Sent::default(),
            code_challenge: Sent::default(),
            code_challenge_method: Sent::default(),
            agent_id: Sent::default(),
            authorization_details: Sent::default(),
            state: Sent::default(),
        };
        for pair in query.split('&') {
            let Some((name, value)) = form_urlencoded::parse(pair.as_bytes()).next() else {
                continue;
            };
            let (into, value) = match &*name {
                "client_id" => (&mut found.client_id, value.into_owned()),
                "redirect_uri" => (&mut found.redirect_uri, value.into_owned()),
                "response_type" => (&mut found.response_type, value.into_owned()),
                "code_challenge" => (&mut found.code_challenge, value.into_owned()),
                "code_challenge_method" => (&mut found.code_challenge_method, value.into_owned()),
                "agent_id" => (&mut found.agent_id, value.into_owned()),
                "authorization_details" => (&mut found.authorization_details, value.into_owned()),
                "state" => (&mut found.state, raw(pair)),
                _ => continue,
            };
            into.add(value);
        }
        found
    }

    /// The application's name.
    ///
    /// # Errors
    /// Where it has none that could be looked up.
    pub fn client_id(&self) -> Result<&str, Doubt> {
        match &self.client_id {
            // No application has a name that databases do not keep.
            Sent::Once(id) if !id.contains('\0') => Ok(id),
            Sent::Once(_) | Sent::Absent => {
                Err(Doubt("The link names no application (client_id)."))
            }
            Sent::Repeated => Err(Doubt("The link names its application twice (client_id).")),
        }
    }

    /// The address that the answer is wanted at.
    ///
    /// # Errors
    /// Where it has none that could be compared.
    pub fn redirect_uri(&self) -> Result<&str, Doubt> {
        match &self.redirect_uri {
            Sent::Once(address) => Ok(address),
            Sent::Absent => Err(Doubt(
                "The link names no address to return to (redirect_uri).",
            )),
            Sent::Repeated => Err(Doubt(
                "The link names its address to return to twice (redirect_uri).",
            )),
        }
    }

    /// What the application wants to get back with the answer, as it sent it. One that was sent twice is none.
    pub fn state(&self) -> Option<&str> {
        match &self.state {
            Sent::Once(state) => Some(state),
            Sent::Absent | Sent::Repeated => None,
        }
    }

    /// The details as sent.
    pub fn details(&self) -> &str {
        match &self.authorization_details {
            Sent::Once(details) => details,
            Sent::Absent | Sent::Repeated => "",
        }
    }

    /// Judges everything else; `types` are the application's types of details.
    ///
    /// # Errors
    /// What the application is told.
    pub fn check(&self, types: &[String]) -> Result<Request, Refusal> {
        let invalid = |description| Error::InvalidRequest.because(description);
        if self.state == Sent::Repeated {
            return Err(invalid("state must not be repeated"));
        }
        let response_type = self.response_type.once(
            "response_type is required",
            "response_type must not be repeated",
        )?;
        if response_type != "code" {
            return Err(Error::UnsupportedResponseType.because("response_type must be code"));
        }
        let challenge = self.code_challenge.once(
            "code_challenge is required",
            "code_challenge must not be repeated",
        )?;
        if !pkce::is_challenge(challenge) {
            return Err(invalid("code_challenge must be 43 characters of base64url"));
        }
        // RFC 7636: absent means plain, which is refused (contract 16.3).
        let method = self.code_challenge_method.once(
            "code_challenge_method is required and must be S256",
            "code_challenge_method must not be repeated",
        )?;
        if method != "S256" {
            return Err(invalid("code_challenge_method must be S256"));
        }
        let agent_id = self
            .agent_id
            .once("agent_id is required", "agent_id must not be repeated")?;
        if IdKind::Agent.accept(agent_id).as_deref() != Some(agent_id) {
            return Err(UNKNOWN_AGENT);
        }
        let details = self.authorization_details.once(
            "authorization_details is required",
            "authorization_details must not be repeated",
        )?;
        let details = detail::read(details, types).map_err(|refused| match refused {
            detail::Refused::Malformed => {
                invalid("authorization_details must be a JSON array of objects")
            }
            detail::Refused::Unknown(what) => Error::InvalidAuthorizationDetails.because(what),
        })?;
        Ok(Request {
            code_challenge: challenge.to_owned(),
            agent_id: agent_id.to_owned(),
            details,
        })
    }
}

/// Contract 16.3.
pub const UNKNOWN_AGENT: Refusal =
    Error::InvalidRequest.because("agent_id names no agent of this mode");

impl Sent {
    fn add(&mut self, value: String) {
        if value.is_empty() {
            return;
        }
        *self = match self {
            Self::Absent => Self::Once(value),
            Self::Once(_) | Self::Repeated => Self::Repeated,
        };
    }

    fn once(&self, absent: &'static str, repeated: &'static str) -> Result<&str, Refusal> {
        match self {
            Self::Once(value) => Ok(value),
            Self::Absent => Err(Error::InvalidRequest.because(absent)),
            Self::Repeated => Err(Error::InvalidRequest.because(repeated)),
        }
    }
}

/// The value of a pair as it stands, made fit for a header.
fn raw(pair: &str) -> String {
    let value = pair.split_once('=').map_or("", |(_, value)| value);
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_graphic() && byte != b'#' {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Where a refusal is told.
pub fn refused(redirect_uri: &str, issuer: &str, state: Option<&str>, refusal: Refusal) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    pairs.append_pair("error", refusal.error.word());
    pairs.append_pair("error_description", refusal.description);
    answer(redirect_uri, issuer, state, pairs)
}

/// Where a code is handed over.
pub fn granted(redirect_uri: &str, issuer: &str, state: Option<&str>, code: &str) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    pairs.append_pair("code", code);
    answer(redirect_uri, issuer, state, pairs)
}

fn answer(
    redirect_uri: &str,
    issuer: &str,
    state: Option<&str>,
    mut pairs: form_urlencoded::Serializer<'_, String>,
) -> String {
    pairs.append_pair("iss", issuer);
    let mut pairs = pairs.finish();
    if let Some(state) = state {
        pairs.push_str("&state=");
        pairs.push_str(state);
    }
    super::redirect::with_query(redirect_uri, &pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const AGENT: &str = "agt_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const DETAILS: &str = r#"[{"type":"svc_agent_access","actions":["chat"]}]"#;

    /// A good query with some parameters replaced; an empty value stays empty.
    fn query(changes: &[(&str, &str)]) -> String {
        let good = [
            ("response_type", "code"),
            ("client_id", "svc_app_x"),
            ("redirect_uri", "https://a.example/cb"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("agent_id", AGENT),
            ("authorization_details", DETAILS),
            ("state", "s"),
        ];
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        for (name, value) in good {
            let change = changes.iter().find(|(other, _)| *other == name);
            pairs.append_pair(name, change.map_or(value, |(_, value)| value));
        }
        pairs.append_pair("scope", "everything").finish()
    }

    fn error(query: &str) -> &'static str {
        let types = vec![detail::TYPE.to_owned()];
        let found = Parameters::read(query).check(&types);
        found.map_or_else(|refusal| refusal.error.word(), |_| "accepted")
    }

    #[test]
    fn every_rule_is_told_apart() {
        assert_eq!(error(&query(&[])), "accepted");
        for (name, value, word) in [
            ("response_type", "", "invalid_request"),
            ("response_type", "token", "unsupported_response_type"),
            ("code_challenge", "", "invalid_request"),
            ("code_challenge", "short", "invalid_request"),
            ("code_challenge", &"+".repeat(43), "invalid_request"),
            ("code_challenge_method", "", "invalid_request"),
            ("code_challenge_method", "plain", "invalid_request"),
            ("code_challenge_method", "s256", "invalid_request"),
            ("agent_id", "", "invalid_request"),
            ("agent_id", "agt_x", "invalid_request"),
            ("agent_id", &AGENT[4..], "invalid_request"),
            ("authorization_details", "", "invalid_request"),
            ("authorization_details", "{}", "invalid_request"),
            ("authorization_details", "[1]", "invalid_request"),
            (
                "authorization_details",
                "[]",
                "invalid_authorization_details",
            ),
            (
                "authorization_details",
                r#"[{"type":"x"}]"#,
                "invalid_authorization_details",
            ),
        ] {
            assert_eq!(error(&query(&[(name, value)])), word, "{name}={value}");
        }
        for name in [
            "response_type",
            "code_challenge",
            "code_challenge_method",
            "agent_id",
            "authorization_details",
            "state",
        ] {
            let twice = format!("{}&{name}=x", query(&[]));
            assert_eq!(error(&twice), "invalid_request", "{name}");
            // An empty one is an absent one.
            assert_eq!(
                error(&format!("{}&{name}=", query(&[]))),
                "accepted",
                "{name}"
            );
        }
        assert_eq!(
            error(&format!("{}&scope=y&scope=z", query(&[]))),
            "accepted"
        );
    }

    #[test]
    fn who_asks_and_where_the_answer_goes_are_judged_first() {
        let read = |query: &str| {
            let parameters = Parameters::read(query);
            (
                parameters.client_id().is_ok(),
                parameters.redirect_uri().is_ok(),
            )
        };
        assert_eq!(read("client_id=a&redirect_uri=b"), (true, true));
        assert_eq!(read("client_id=&redirect_uri="), (false, false));
        assert_eq!(
            read("client_id=a&client_id=a&redirect_uri=b&redirect_uri=b"),
            (false, false)
        );
        assert_eq!(read(""), (false, false));
    }

    #[test]
    fn state_goes_back_as_it_came() {
        for state in ["a+b%20c", "%ff%00", "%7B%22x%22%3A1%7D", "~!$'()*,/:;?@[]"] {
            let parameters = Parameters::read(&format!("state={state}"));
            assert_eq!(parameters.state(), Some(state));
        }
        // What no header carries is written as it would have to be.
        assert_eq!(
            Parameters::read("state=\u{e9} #").state(),
            Some("%C3%A9%20%23")
        );
        assert_eq!(Parameters::read("state=a&state=b").state(), None);
    }

    #[test]
    fn answers_name_the_issuer_and_keep_the_query() {
        let refusal = Error::AccessDenied.because("the user said no");
        assert_eq!(
            refused(
                "https://a.example/cb?x=1",
                "https://svc.example",
                Some("s%20t"),
                refusal
            ),
            "https://a.example/cb?x=1&error=access_denied&error_description=the+user+said+no\
             &iss=https%3A%2F%2Fsvc.example&state=s%20t"
        );
        assert_eq!(
            granted("com.example.app:/cb", "https://svc.example", None, "c-_"),
            "com.example.app:/cb?code=c-_&iss=https%3A%2F%2Fsvc.example"
        );
    }
}
