//! The model catalogue as `GET /v1/models` lists it, in the shape of each SDK (contract 21). Which models a
//! caller may use is decided elsewhere.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::fault::{Fault, Problems, invalid};
use crate::time::Timestamp;

/// One model of the catalogue that the caller may use.
#[derive(Clone, Copy)]
pub struct Listed<'a> {
    /// Catalogue id.
    pub id: &'a str,
    /// When the model came into the catalogue.
    pub created: Timestamp,
    /// Of prompt and reply together.
    pub context_window_tokens: u64,
    /// Of one reply.
    pub max_output_tokens: u32,
    /// Once it is announced.
    pub end: Option<End>,
}

/// The end of a model that has been announced.
#[derive(Clone, Copy)]
pub struct End {
    pub announced: Timestamp,
    /// Not yet reached: what has ended is not listed.
    pub retires: Timestamp,
}

/// The list shape of the chat-completions surface, which does not say whether there is more.
///
/// # Errors
/// 422 where the page begins at a model that is not listed.
pub fn chat_completions_list(models: &[Listed<'_>], page: &Page) -> Result<Value, Fault> {
    let (models, _) = page.of(models)?;
    let data: Vec<Value> = models.iter().map(chat_completions_model).collect();
    Ok(json!({"object": "list", "data": data}))
}

/// One model in the shape of the chat-completions surface.
pub fn chat_completions_model(model: &Listed<'_>) -> Value {
    json!({
        "id": model.id,
        "object": "model",
        "created": model.created.unix_seconds(),
        "owned_by": OWNER,
    })
}

/// The part of the list that a caller asks for, as the messages SDK does: `limit`, and an id as `after_id` or
/// `before_id`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    limit: Option<usize>,
    after: Option<String>,
    before: Option<String>,
}

impl Page {
    const MAX_LIMIT: usize = 1000;

    /// Reads the parameters of a query; others are left alone, as SDKs add some of their own. Without `limit` the page
    /// holds as much as a page may.
    ///
    /// # Errors
    /// 422 with every parameter that is wrong.
    pub fn read<'a>(
        parameters: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>,
    ) -> Result<Self, Fault> {
        let mut page = Self::default();
        let mut problems = Problems::default();
        for (name, value) in parameters {
            match &*name {
                "limit" => {
                    let limit = value.parse().ok();
                    page.limit = limit.filter(|limit| (1..=Self::MAX_LIMIT).contains(limit));
                    if page.limit.is_none() {
                        let most = Self::MAX_LIMIT;
                        problems.add(
                            "$query.limit",
                            format!("must be a whole number from 1 to {most}"),
                        );
                    }
                }
                "after_id" => page.after = Some(value.into_owned()),
                "before_id" => page.before = Some(value.into_owned()),
                _ => {}
            }
        }
        if page.after.is_some() && page.before.is_some() {
            problems.add("$query.before_id", "cannot be given beside after_id");
        }
        problems.into_result().map(|()| page)
    }

    /// The models of the page, and whether there are more behind it, or before it where `before_id` was asked for.
    fn of<'a, 'b>(&self, models: &'a [Listed<'b>]) -> Result<(&'a [Listed<'b>], bool), Fault> {
        let limit = self.limit.unwrap_or(Self::MAX_LIMIT);
        let find = |name: &str, id: &str| {
            let place = models.iter().position(|model| model.id == id);
            place
                .ok_or_else(|| invalid(format!("$query.{name}"), "is not the id of a listed model"))
        };
        if let Some(id) = &self.before {
            let (earlier, _) = models.split_at(find("before_id", id)?);
            let (rest, page) = earlier.split_at(earlier.len().saturating_sub(limit));
            return Ok((page, !rest.is_empty()));
        }
        let later = match &self.after {
            Some(id) => models.split_at(find("after_id", id)? + 1).1,
            None => models,
        };
        let (page, rest) = later.split_at(limit.min(later.len()));
        Ok((page, !rest.is_empty()))
    }
}

/// The list shape of the messages surface, for callers that send `anthropic-version`.
///
/// # Errors
/// 422 where the page begins at a model that is not listed.
pub fn messages_list(models: &[Listed<'_>], page: &Page) -> Result<Value, Fault> {
    let (models, has_more) = page.of(models)?;
    let data: Vec<Value> = models.iter().map(messages_model).collect();
    Ok(json!({
        "data": data,
        "has_more": has_more,
        "first_id": models.first().map(|model| model.id),
        "last_id": models.last().map(|model| model.id),
    }))
}

/// One model in the shape of the messages surface. The SDKs demand every field, and null where there is nothing to say.
pub fn messages_model(model: &Listed<'_>) -> Value {
    let Listed {
        id,
        created,
        context_window_tokens,
        max_output_tokens,
        end,
    } = model;
    json!({
        "type": "model",
        "id": id,
        "display_name": id,
        "created_at": created.to_string(),
        "lifecycle": if end.is_some() { "deprecated" } else { "active" },
        "deprecated_at": end.map(|end| end.announced.to_string()),
        "retires_at": end.map(|end| end.retires.to_string()),
        "max_input_tokens": context_window_tokens,
        "max_tokens": max_output_tokens,
        "capabilities": null,
        "line": null,
    })
}

/// Who offers the models, as the caller sees it: the gateway, whichever provider is behind it.
const OWNER: &str = "svc";

#[cfg(test)]
mod tests {
    use super::*;

    const fn listed(id: &'static str, created: i64) -> Listed<'static> {
        Listed {
            id,
            created: Timestamp(created),
            context_window_tokens: 400_000,
            max_output_tokens: 32_000,
            end: None,
        }
    }

    const MODELS: &[Listed<'static>] = &[
        listed("alpha-haiku-4-5", 1_795_205_340_123),
        listed("beta-5.4", 1_795_205_341_000),
    ];

    #[test]
    fn each_sdk_finds_its_own_shape() -> Result<(), Fault> {
        assert_eq!(
            chat_completions_list(MODELS, &Page::default())?,
            json!({"object": "list", "data": [
                {"id": "alpha-haiku-4-5", "object": "model", "created": 1_795_205_340, "owned_by": "svc"},
                {"id": "beta-5.4", "object": "model", "created": 1_795_205_341, "owned_by": "svc"},
            ]})
        );
        let list = messages_list(MODELS, &Page::default())?;
        assert_eq!(list["data"][1]["display_name"], "beta-5.4");
        assert_eq!(list["data"][0]["created_at"], "2026-11-20T20:09:00.123Z");
        assert_eq!(
            (&list["first_id"], &list["last_id"], &list["has_more"]),
            (&json!("alpha-haiku-4-5"), &json!("beta-5.4"), &json!(false))
        );
        Ok(())
    }

    #[test]
    fn an_empty_catalogue_has_no_ends() -> Result<(), Fault> {
        let list = messages_list(&[], &Page::default())?;
        assert_eq!(
            (&list["first_id"], &list["last_id"]),
            (&Value::Null, &Value::Null)
        );
        Ok(())
    }

    #[test]
    fn a_model_says_how_much_it_takes_and_how_long_it_stays() {
        let model = listed("m", 0);
        let shown = messages_model(&model);
        assert_eq!(shown["lifecycle"], "active");
        assert_eq!(
            (&shown["max_input_tokens"], &shown["max_tokens"]),
            (&json!(400_000), &json!(32_000))
        );
        for name in ["deprecated_at", "retires_at", "capabilities", "line"] {
            assert_eq!(shown.get(name), Some(&Value::Null), "{name}");
        }
        let end = End {
            announced: Timestamp(1_795_205_340_000),
            retires: Timestamp(1_805_205_340_000),
        };
        let shown = messages_model(&Listed {
            end: Some(end),
            ..model
        });
        assert_eq!(shown["lifecycle"], "deprecated");
        assert_eq!(shown["deprecated_at"], "2026-11-20T20:09:00.000Z");
        assert_eq!(shown["retires_at"], end.retires.to_string());
    }

    const LETTERS: [Listed<'static>; 5] = [
        listed("a", 0),
        listed("b", 0),
        listed("c", 0),
        listed("d", 0),
        listed("e", 0),
    ];

    fn read(query: &[(&'static str, &'static str)]) -> Result<Page, Fault> {
        let parameters = query.iter();
        Page::read(parameters.map(|&(name, value)| (Cow::Borrowed(name), Cow::Borrowed(value))))
    }

    /// The ids of a page in one word, and a `+` where there are more.
    fn page(query: &[(&'static str, &'static str)]) -> Result<String, Fault> {
        let page = read(query)?;
        let (models, has_more) = page.of(&LETTERS)?;
        let ids: String = models.iter().map(|model| model.id).collect();
        Ok(if has_more { ids + "+" } else { ids })
    }

    #[test]
    fn pages_go_both_ways() -> Result<(), Fault> {
        for (query, wanted) in [
            (&[][..], "abcde"),
            (&[("beta", "true")], "abcde"),
            (&[("limit", "1000")], "abcde"),
            (&[("limit", "2")], "ab+"),
            (&[("limit", "2"), ("after_id", "b")], "cd+"),
            (&[("limit", "2"), ("after_id", "d")], "e"),
            (&[("after_id", "e")], ""),
            (&[("limit", "2"), ("before_id", "e")], "cd+"),
            (&[("limit", "2"), ("before_id", "c")], "ab"),
            (&[("before_id", "a")], ""),
        ] {
            assert_eq!(page(query)?, wanted, "{query:?}");
        }
        Ok(())
    }

    #[test]
    fn what_is_no_page_is_refused_by_name() {
        for (query, wanted) in [
            (&[("limit", "0")][..], &["$query.limit"][..]),
            (&[("limit", "1001")], &["$query.limit"]),
            (&[("limit", "-1")], &["$query.limit"]),
            (&[("limit", "")], &["$query.limit"]),
            (&[("after_id", "z")], &["$query.after_id"]),
            (&[("before_id", "")], &["$query.before_id"]),
            (
                &[("limit", "x"), ("after_id", "a"), ("before_id", "b")],
                &["$query.limit", "$query.before_id"],
            ),
        ] {
            let details = page(query).err().map(|fault| fault.details_value());
            let found: Vec<_> = details
                .iter()
                .flat_map(Value::as_object)
                .flatten()
                .collect();
            let names: Vec<_> = found.into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, wanted, "{query:?}");
        }
    }
}
