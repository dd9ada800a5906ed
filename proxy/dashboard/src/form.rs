//! Forms as browsers send them: `application/x-www-form-urlencoded`, small, each field a text.

use serde_json::{Map, Number, Value};
use svc_core::fault::{Fault, invalid};
use svc_core::json::NUL;
use svc_core::money::Micro;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::filter::is_media_type;

/// 256 KiB: the largest form has a page of text in it.
const MAX_FORM_BYTES: usize = 256 * 1024;
/// No form has more.
const MAX_FIELDS: usize = 500;

/// The fields of one form, in the order of the page.
#[derive(Clone, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// 413, or 422 for what is no form.
    pub async fn read(exchange: &mut Exchange) -> Result<Self, Fault> {
        let bytes = exchange.read_body(MAX_FORM_BYTES).await?;
        let is_form = is_media_type(&exchange.head.headers, "application/x-www-form-urlencoded");
        if !is_form && !bytes.is_empty() {
            return Err(invalid("$header.Content-Type", "must be that of a form"));
        }
        let fields: Vec<_> = form_urlencoded::parse(&bytes)
            .into_owned()
            .take(MAX_FIELDS + 1)
            .collect();
        if fields.len() > MAX_FIELDS {
            return Err(invalid("$body", "has too many fields"));
        }
        if fields.iter().any(|(_, text)| text.contains('\0')) {
            return Err(invalid("$body", NUL));
        }
        Ok(Self(fields))
    }

    /// The fields of a query.
    pub fn of_query(exchange: &Exchange) -> Self {
        Self::of_text(exchange.head.query.as_deref().unwrap_or_default())
    }

    /// The fields of a text that is written as queries are.
    pub(crate) fn of_text(query: &str) -> Self {
        let fields = form_urlencoded::parse(query.as_bytes()).into_owned();
        Self(fields.take(MAX_FIELDS).collect())
    }

    /// With these values of a field, in place of those before.
    pub(crate) fn put<'a>(&mut self, name: &str, values: impl Iterator<Item = &'a str>) {
        self.0.retain(|(key, _)| key != name);
        let values = values.map(|value| (name.to_owned(), value.to_owned()));
        self.0.extend(values);
    }

    /// The text of a field as it was sent; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// The text of a field without the space around it, where somebody filled it in.
    pub fn filled(&self, name: &str) -> Option<&str> {
        self.find(name)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    /// The text of a field, where it was sent at all.
    pub fn sent(&self, name: &str) -> Option<&str> {
        self.find(name)
    }

    /// Those of these texts that somebody filled in, as the API takes them.
    pub(crate) fn texts(&self, names: &[&str]) -> Map<String, Value> {
        let filled = names.iter().filter_map(|name| {
            let text = self.filled(name)?;
            Some(((*name).to_owned(), text.into()))
        });
        filled.collect()
    }

    /// The lines of a text that have something on them, without the space around it.
    pub(crate) fn lines(&self, name: &str) -> Vec<&str> {
        let lines = self.text(name).lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).collect()
    }

    /// A field as the API takes numbers; what is none, or has more digits than one keeps, goes there as the text it is,
    /// and is refused with its name.
    pub(crate) fn number(&self, name: &str) -> Option<Value> {
        let text = self.filled(name)?;
        let is_kept =
            |number: &Number| Micro::parse_number(text) == Micro::parse_number(&number.to_string());
        let whole = text.parse::<u64>().ok().map(Number::from);
        let number = whole.or_else(|| serde_json::from_str(text).ok().filter(is_kept));
        Some(number.map_or_else(|| Value::from(text), Value::Number))
    }

    /// Every value of a field that may stand several times: boxes that are ticked.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// The key under which a form is done once, however often it is sent: its page has many forms with one `once`.
    pub(crate) fn once(&self, exchange: &Exchange) -> String {
        match self.text("once") {
            "" => String::new(),
            once => format!("{once}:{}", exchange.head.path),
        }
    }

    fn find(&self, name: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|(key, _)| key == name);
        named.next().map(|(_, value)| value.as_str())
    }
}

impl FromIterator<(String, String)> for Fields {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

/// Forms send line ends as CR LF (HTML, 4.10.21.8); what is stored has none of them.
pub(crate) fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}
