//! An OpenID provider on the loopback address, which signs people in without asking and lies when it is told to.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use rcgen::{KeyPair, PKCS_ED25519, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::sink::{Received, request};

pub const CLIENT_ID: &str = "svc-gateway";
/// With characters that form encoding changes (RFC 6749, 2.3.1).
pub const CLIENT_SECRET: &str = "a+secret/with:signs&more";

/// Somebody at the provider.
#[derive(Clone, Debug)]
pub struct Person {
    pub subject: String,
    pub email: String,
    pub verified: bool,
}

/// What is wrong with the next token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lie {
    #[default]
    None,
    Nonce,
    Audience,
    Issuer,
    Expired,
    /// Signed by a key that the provider does not publish.
    Key,
    /// `alg: none`, without a signature.
    Unsigned,
    /// Signed with the client's secret.
    Symmetric,
    /// No token at all.
    Missing,
}

/// A running provider; it ends with its value.
pub struct Provider {
    pub address: SocketAddr,
    state: Arc<State>,
    _serving: JoinSet<()>,
}

struct State {
    issuer: String,
    inner: Mutex<Inner>,
}

struct Inner {
    key: Arc<KeyPair>,
    key_id: String,
    lie: Lie,
    /// Tells the address at `/userinfo` alone.
    keeps_address: bool,
    codes: HashMap<String, Asked>,
    /// What access tokens stand for.
    people: HashMap<String, Person>,
    /// Paths that were asked for.
    asked: Vec<String>,
    made: usize,
}

struct Asked {
    person: Person,
    nonce: String,
    challenge: String,
    redirect_uri: String,
}

impl Provider {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let state = Arc::new(State {
            issuer: format!("http://{address}"),
            inner: Mutex::new(Inner {
                key: Arc::new(key()),
                key_id: "first".to_owned(),
                lie: Lie::None,
                keeps_address: false,
                codes: HashMap::new(),
                people: HashMap::new(),
                asked: Vec::new(),
                made: 0,
            }),
        });
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&state)));
        Self {
            address,
            state,
            _serving: serving,
        }
    }

    pub fn issuer(&self) -> String {
        self.state.issuer.clone()
    }

    /// Lies in tokens from now on.
    pub fn lies(&self, lie: Lie) {
        self.state.lock().lie = lie;
    }

    /// Tells addresses at `/userinfo` alone from now on, as providers do that keep to the letter.
    pub fn keeps_address(&self) {
        self.state.lock().keeps_address = true;
    }

    /// Signs with another key from now on.
    pub fn changes_key(&self) {
        let mut inner = self.state.lock();
        inner.key = Arc::new(key());
        inner.key_id = "second".to_owned();
    }

    /// How often a path was asked for.
    pub fn asked(&self, path: &str) -> usize {
        let inner = self.state.lock();
        inner.asked.iter().filter(|asked| *asked == path).count()
    }

    /// What a browser does here that the gateway has sent: gives the query that it comes back with.
    ///
    /// # Panics
    /// When what the gateway asks for is not what it has to be.
    pub fn sign_in(&self, sent_to: &str, person: &Person) -> String {
        let start = format!("{}/authorize?", self.state.issuer);
        let query = sent_to.strip_prefix(&start);
        let query = query.unwrap_or_else(|| panic!("{sent_to} is not at the provider"));
        let asked: HashMap<String, String> = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["client_id"], CLIENT_ID);
        assert_eq!(asked["code_challenge_method"], "S256");
        let scopes: Vec<&str> = asked["scope"].split(' ').collect();
        assert!(
            scopes.contains(&"openid") && scopes.contains(&"email"),
            "{scopes:?}"
        );
        let mut inner = self.state.lock();
        inner.made += 1;
        let code = format!("code-{}", inner.made);
        inner.codes.insert(
            code.clone(),
            Asked {
                person: person.clone(),
                nonce: asked["nonce"].clone(),
                challenge: asked["code_challenge"].clone(),
                redirect_uri: asked["redirect_uri"].clone(),
            },
        );
        let mut back = form_urlencoded::Serializer::new(String::new());
        back.append_pair("code", &code);
        back.append_pair("state", &asked["state"]);
        back.append_pair("iss", &self.state.issuer);
        back.finish()
    }
}

/// Seconds since the Unix epoch.
#[expect(
    clippy::disallowed_methods,
    reason = "a provider has a clock of its own"
)]
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a time after 1970").as_secs()
}

fn key() -> KeyPair {
    KeyPair::generate_for(&PKCS_ED25519).expect("a key")
}

impl State {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().expect("the provider")
    }

    /// A status and a document.
    fn answer(&self, request: &Received) -> (u16, Value) {
        let path = request.path.split('?').next().unwrap_or_default();
        self.lock().asked.push(path.to_owned());
        match path {
            "/.well-known/openid-configuration" => (200, self.metadata()),
            "/jwks" => (200, self.keys()),
            "/token" => self.token(request),
            "/userinfo" => self.about(request),
            _ => (404, json!({})),
        }
    }

    fn metadata(&self) -> Value {
        let issuer = &self.issuer;
        json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "userinfo_endpoint": format!("{issuer}/userinfo"),
            "jwks_uri": format!("{issuer}/jwks"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA", "HS256", "none"],
        })
    }

    fn keys(&self) -> Value {
        let inner = self.lock();
        let x = URL_SAFE_NO_PAD.encode(inner.key.public_key_raw());
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": inner.key_id, "x": x}]})
    }

    fn token(&self, request: &Received) -> (u16, Value) {
        let sent: HashMap<String, String> =
            form_urlencoded::parse(&request.body).into_owned().collect();
        let refused = |error: &str| (400, json!({"error": error}));
        if request.header("authorization") != basic() {
            return (401, json!({"error": "invalid_client"}));
        }
        let mut inner = self.lock();
        let Some(asked) = inner.codes.remove(&sent["code"]) else {
            return refused("invalid_grant");
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&sent["code_verifier"]));
        if challenge != asked.challenge || sent["redirect_uri"] != asked.redirect_uri {
            return refused("invalid_grant");
        }
        inner.made += 1;
        let access = format!("access-{}", inner.made);
        inner.people.insert(access.clone(), asked.person.clone());
        let mut answer = json!({"access_token": access, "token_type": "Bearer", "expires_in": 60});
        if inner.lie != Lie::Missing {
            answer["id_token"] = self.signed(&inner, &asked).into();
        }
        (200, answer)
    }

    fn signed(&self, inner: &Inner, asked: &Asked) -> String {
        let Person {
            subject,
            email,
            verified,
        } = &asked.person;
        let lie = inner.lie;
        let now = now();
        let said = |is_lie: bool, truth: &str, lie: &str| {
            if is_lie {
                lie.to_owned()
            } else {
                truth.to_owned()
            }
        };
        let mut claims = json!({
            "iss": said(lie == Lie::Issuer, &self.issuer, "http://127.0.0.1:1"),
            "aud": said(lie == Lie::Audience, CLIENT_ID, "another-client"),
            "nonce": said(lie == Lie::Nonce, &asked.nonce, "another-nonce"),
            "sub": subject,
            "iat": now - 1,
            "exp": if lie == Lie::Expired { now - 600 } else { now + 60 },
        });
        if !inner.keeps_address {
            claims["email"] = email.as_str().into();
            claims["email_verified"] = (*verified).into();
        }
        let algorithm = match lie {
            Lie::Unsigned => "none",
            Lie::Symmetric => "HS256",
            _ => "EdDSA",
        };
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = encoded(&json!({"alg": algorithm, "kid": inner.key_id}));
        let text = format!("{head}.{}", encoded(&claims));
        let signature = match lie {
            Lie::Unsigned => Vec::new(),
            Lie::Symmetric => {
                let mac = Hmac::<Sha256>::new_from_slice(CLIENT_SECRET.as_bytes());
                let mac = mac.expect("a key").chain_update(&text);
                mac.finalize().into_bytes().to_vec()
            }
            Lie::Key => key().sign(text.as_bytes()).expect("a signature"),
            _ => inner.key.sign(text.as_bytes()).expect("a signature"),
        };
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn about(&self, request: &Received) -> (u16, Value) {
        let inner = self.lock();
        let token = request.header("authorization").strip_prefix("Bearer ");
        let person = token.and_then(|token| inner.people.get(token));
        let Some(Person {
            subject,
            email,
            verified,
        }) = person
        else {
            return (401, json!({}));
        };
        (
            200,
            json!({"sub": subject, "email": email, "email_verified": verified}),
        )
    }
}

/// RFC 6749, 2.3.1: both halves in form encoding.
fn basic() -> String {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let both = format!("{}:{}", encoded(CLIENT_ID), encoded(CLIENT_SECRET));
    format!("Basic {}", STANDARD.encode(both))
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, Arc::clone(&state)));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(mut stream: TcpStream, state: Arc<State>) {
    let mut buffer = Vec::new();
    while let Some(request) = request(&mut stream, &mut buffer).await {
        let (status, document) = state.answer(&request);
        let body = document.to_string();
        let answer = format!(
            "HTTP/1.1 {status} .\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}
