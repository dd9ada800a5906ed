//! A browser without scripts: keeps cookies, sends the forms that it was shown with all their hidden fields, and says
//! where it was sent.

use std::collections::BTreeMap;

use crate::gateway::Gateway;
use crate::organization::Organization;
use crate::wire::{Answer, Request};

pub const PASSWORD: &str = "a sentence nobody guesses";

pub struct Browser<'g> {
    gateway: &'g Gateway,
    pub cookies: BTreeMap<String, String>,
    headers: Vec<(String, String)>,
}

/// What came back.
pub struct Page {
    pub answer: Answer,
    pub text: String,
}

impl Page {
    pub fn status(&self) -> u16 {
        self.answer.status
    }

    /// Where the browser is sent.
    ///
    /// # Panics
    /// When it is not.
    pub fn leads_to(&self) -> &str {
        assert_eq!(self.status(), 303, "{}", self.text);
        self.answer.header("location").expect("a place to go to")
    }

    /// The hidden fields of the form with this action.
    ///
    /// # Panics
    /// When there is no such form.
    pub fn hidden(&self, action: &str) -> Vec<(String, String)> {
        let form = self.form(action);
        let inputs = form.split("<input ").skip(1);
        let hidden = inputs.filter(|input| input.starts_with("type=\"hidden\""));
        hidden
            .map(|input| (attribute(input, "name"), attribute(input, "value")))
            .collect()
    }

    fn form(&self, action: &str) -> &str {
        let start = format!("action=\"{action}\"");
        let (_, rest) = self
            .text
            .split_once(&start)
            .unwrap_or_else(|| panic!("no form to {action} in {}", self.text));
        rest.split_once("</form>").expect("the end of a form").0
    }
}

/// The value of an attribute, with the entities that pages of ours have in them.
fn attribute(tag: &str, name: &str) -> String {
    let start = format!("{name}=\"");
    let (_, rest) = tag.split_once(&start).unwrap_or_default();
    plain(rest.split_once('"').map_or("", |(value, _)| value))
}

/// A text of a page with the entities that ours have in them.
fn plain(text: &str) -> String {
    text.replace("&#38;", "&")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
}

/// What a browser would send of a form that nobody touched, beside its hidden fields.
///
/// # Panics
/// When the page has no such form.
pub fn shown(page: &Page, action: &str) -> Vec<(String, String)> {
    let form = page.form(action);
    let mut fields = Vec::new();
    for input in form.split("<input ").skip(1) {
        let (tag, _) = input.split_once('>').expect("the end of a tag");
        let is_ticked = !tag.contains("type=\"checkbox\"") || tag.ends_with(" checked");
        if is_ticked && !tag.contains("type=\"hidden\"") {
            fields.push((attribute(tag, "name"), attribute(tag, "value")));
        }
    }
    for area in form.split("<textarea ").skip(1) {
        let (tag, rest) = area.split_once('>').expect("the end of a tag");
        let (text, _) = rest.split_once("</textarea>").expect("the end of an area");
        let text = text.strip_prefix('\n').unwrap_or(text);
        fields.push((attribute(tag, "name"), plain(text).replace('\n', "\r\n")));
    }
    for select in form.split("<select ").skip(1) {
        let (tag, rest) = select.split_once('>').expect("the end of a tag");
        let (options, _) = rest.split_once("</select>").expect("the end of a choice");
        let options: Vec<&str> = options.split("<option ").skip(1).collect();
        let chosen = options.iter().find(|option| option.contains(" selected>"));
        let chosen = chosen.or(options.first()).expect("an option");
        fields.push((attribute(tag, "name"), attribute(chosen, "value")));
    }
    fields
}

impl<'g> Browser<'g> {
    pub fn new(gateway: &'g Gateway) -> Self {
        Self {
            gateway,
            cookies: BTreeMap::new(),
            headers: Vec::new(),
        }
    }

    /// The owner of an organization, who has set their password.
    pub async fn owner(gateway: &'g Gateway, organization: &Organization) -> Self {
        let mut browser = Self::new(gateway);
        browser.accept(&organization.invitation).await;
        browser
    }

    /// Follows an invitation and sets [`PASSWORD`].
    ///
    /// # Panics
    /// When that does not lead to the overview.
    pub async fn accept(&mut self, invitation: &str) {
        let path = self.path(invitation).to_owned();
        let page = self.get(&path).await;
        let set = [("password", PASSWORD), ("again", PASSWORD)];
        let done = self.submit(&page, &path, &set).await;
        assert_eq!(done.leads_to(), "/ui");
    }

    /// A browser that sends one header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The path of an address of this gateway.
    ///
    /// # Panics
    /// When it is another's.
    pub fn path<'a>(&self, url: &'a str) -> &'a str {
        let base = format!("http://{}", self.gateway.address);
        url.strip_prefix(&base)
            .unwrap_or_else(|| panic!("{url} is not at {base}"))
    }

    pub async fn get(&mut self, path: &str) -> Page {
        let request = self.request("GET", path);
        self.send(request).await
    }

    /// Sends a form of a page with these fields beside its hidden ones.
    pub async fn submit(&mut self, page: &Page, action: &str, fields: &[(&str, &str)]) -> Page {
        let mut all = page.hidden(action);
        all.extend(
            fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        self.post(action, &all).await
    }

    /// Sends a form that no page has shown.
    pub async fn post(&mut self, path: &str, fields: &[(String, String)]) -> Page {
        self.send(self.form(path, fields)).await
    }

    /// A form as it is sent.
    pub fn form(&self, path: &str, fields: &[(String, String)]) -> Request {
        let body: String = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.request("POST", path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body.as_bytes())
    }

    /// Signs in with address and password, without a second factor.
    pub async fn sign_in(&mut self, email: &str, password: &str) -> Page {
        let page = self.get("/ui/login").await;
        let typed = [("email", email), ("password", password)];
        self.submit(&page, "/ui/login", &typed).await
    }

    fn request(&self, method: &str, path: &str) -> Request {
        let mut request = Request::new(method, path);
        if !self.cookies.is_empty() {
            let pairs = self.cookies.iter();
            let pairs: Vec<String> = pairs
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            request = request.header("Cookie", &pairs.join("; "));
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }

    async fn send(&mut self, request: Request) -> Page {
        let answer = self.gateway.answer(&request).await;
        for (_, cookie) in answer
            .headers
            .iter()
            .filter(|(name, _)| name == "set-cookie")
        {
            let (pair, rest) = cookie.split_once(';').expect("attributes of a cookie");
            let (name, value) = pair.split_once('=').expect("a cookie");
            assert!(
                rest.contains("HttpOnly") && rest.contains("SameSite=Lax"),
                "{cookie}"
            );
            if rest.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let text = answer.text();
        Page { answer, text }
    }
}
