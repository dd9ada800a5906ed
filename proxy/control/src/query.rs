//! Query parameters, read strictly: an unknown one is refused, never ignored (contract 1.2).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_core::fault::Problems;
use svc_core::query::{self, path, shown};
use svc_core::time::Timestamp;
use svc_store::page::Page;

use crate::cursor;

/// The parameters that nobody has asked for yet.
#[derive(Default)]
pub(crate) struct Query {
    rest: Vec<(String, String)>,
    /// The names as they stand in the address.
    names: Vec<String>,
    /// Those of what is no text, or none that databases keep, and what is wrong with it.
    unkept: BTreeSet<(String, &'static str)>,
    /// What a cursor is bound to: all parameters but where the page starts and how long it is.
    filters: [u8; 32],
}

/// Items of a page (contract 1.4).
#[derive(Clone, Copy)]
pub(crate) struct PageSize {
    pub(crate) default: u32,
    pub(crate) most: u32,
}

pub(crate) const PAGE: PageSize = PageSize {
    default: 20,
    most: 100,
};

const CURSOR: &str = "cursor";
/// Longest value that an audit row repeats.
const MAX_SHOWN_BYTES: usize = 64;

impl Query {
    pub(crate) fn parse(path: &str, query: Option<&str>) -> Self {
        let mut rest = Vec::new();
        let mut unkept = BTreeSet::new();
        for parameter in query::parameters(query.unwrap_or_default()) {
            let query::Parameter {
                name,
                value,
                problem,
            } = parameter;
            // A cursor that is no text is none of ours, as any other that is not.
            if let Some(problem) = problem.filter(|_| name != CURSOR) {
                unkept.insert((shown(&name).to_owned(), problem));
            }
            rest.push((name, value));
        }
        let mut filters: Vec<&(String, String)> = rest
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), CURSOR | "limit"))
            .collect();
        filters.sort();
        let mut hasher = Sha256::new();
        hasher.update(path.as_bytes());
        for (name, value) in filters {
            for part in [name, value] {
                hasher.update((part.len() as u64).to_be_bytes());
                hasher.update(part.as_bytes());
            }
        }
        Self {
            unkept,
            names: rest.iter().map(|(name, _)| name.clone()).collect(),
            rest,
            filters: hasher.finalize().into(),
        }
    }

    /// A parameter that may stand once.
    pub(crate) fn one(&mut self, name: &str, problems: &mut Problems) -> Option<String> {
        let mut values = self.many(name);
        if values.len() > 1 {
            problems.add(path(name), "must not be repeated");
        }
        values.pop()
    }

    /// A parameter that may be repeated.
    pub(crate) fn many(&mut self, name: &str) -> Vec<String> {
        self.rest
            .extract_if(.., |(key, _)| key == name)
            .map(|(_, value)| value)
            .collect()
    }

    /// A repeatable parameter whose values are words, each of them once.
    pub(crate) fn words<T: PartialEq>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
        problems: &mut Problems,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for value in self.many(name) {
            match parse(&value) {
                Some(value) if found.contains(&value) => {}
                Some(value) => found.push(value),
                None => problems.add(path(name), "is not a known value"),
            }
        }
        found
    }

    /// A repeatable parameter of two words: whether it is the second. `None` where both are asked for, or neither.
    pub(crate) fn either(
        &mut self,
        name: &str,
        [first, second]: [&str; 2],
        problems: &mut Problems,
    ) -> Option<bool> {
        let is_second = |word: &str| (word == first || word == second).then_some(word == second);
        match self.words(name, is_second, problems).as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// A parameter that may stand once and is a word.
    pub(crate) fn word<T>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
        problems: &mut Problems,
    ) -> Option<T> {
        let value = self.one(name, problems)?;
        let found = parse(&value);
        if found.is_none() {
            problems.add(path(name), "is not a known value");
        }
        found
    }

    /// An end of a span, in RFC 3339.
    pub(crate) fn time(&mut self, name: &str, problems: &mut Problems) -> Option<Timestamp> {
        let value = self.one(name, problems)?;
        let at = Timestamp::parse_end(&value);
        if at.is_none() {
            problems.add(path(name), "must be an RFC 3339 time");
        }
        at
    }

    /// What was asked for, as an audit row says it; in the place of what is not `plain` stands a mark.
    pub(crate) fn shown(&self, plain: impl Fn(&str, &str) -> bool) -> Value {
        const HIDDEN: &str = "…";
        let pairs = self.rest.iter();
        pairs
            .map(|(name, value)| {
                let is_plain = value.len() <= MAX_SHOWN_BYTES && plain(name, value);
                json!([name, if is_plain { value } else { HIDDEN }])
            })
            .collect()
    }

    /// `limit`, `cursor`, `created_after` and `created_before`.
    pub(crate) fn page(
        &mut self,
        size: PageSize,
        binding: &cursor::Binding<'_>,
        problems: &mut Problems,
    ) -> Page {
        let span = ("created_after", "created_before");
        self.page_between(span, size, binding, problems)
    }

    /// As [`Self::page`], where the ends of the span have other names.
    pub(crate) fn page_between(
        &mut self,
        (from, to): (&str, &str),
        size: PageSize,
        binding: &cursor::Binding<'_>,
        problems: &mut Problems,
    ) -> Page {
        let limit = self.one("limit", problems).map_or(size.default, |text| {
            let limit = text.parse().ok();
            let limit = limit.filter(|limit| (1..=size.most).contains(limit));
            limit.unwrap_or_else(|| {
                let most = size.most;
                problems.add(
                    path("limit"),
                    format!("must be a whole number from 1 to {most}"),
                );
                size.default
            })
        });
        let created_after = self.time(from, problems);
        let created_before = self.time(to, problems);
        let after = self.one(CURSOR, problems).and_then(|text| {
            let position = cursor::read(&text, binding, &self.filters);
            if position.is_none() {
                problems.add(
                    path(CURSOR),
                    "does not belong to this list and these filters",
                );
            }
            position
        });
        Page {
            limit,
            after,
            created_after,
            created_before,
        }
    }

    /// `meta.pagination` of a page whose last row stands at `last`.
    pub(crate) fn pagination(
        &self,
        page: &Page,
        binding: &cursor::Binding<'_>,
        last: Option<&svc_store::page::Position>,
    ) -> Value {
        json!({
            "limit": page.limit,
            "has_more": last.is_some(),
            "next_cursor": last.map(|last| cursor::write(last, binding, &self.filters)),
        })
    }

    /// Notes every parameter that nobody took, and puts what was found in others into their order.
    pub(crate) fn end(&mut self, problems: &mut Problems) {
        let mut unknown = BTreeSet::new();
        for (name, _) in self.rest.drain(..) {
            unknown.insert(shown(&name).to_owned());
        }
        for (name, problem) in &self.unkept {
            problems.add(path(name), *problem);
        }
        for name in unknown {
            problems.add(path(&name), "is not a known parameter");
        }
        problems.order_query(&self.names);
    }
}
