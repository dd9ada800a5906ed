//! Reading one constraint or preference: its scope and its own fields, against the resources and slots of the spec.

use std::collections::HashMap;

use jiff::civil::Date;
use serde_json::Value;

use super::calendar::{self, Calendar};
use super::fields::{self, Fields, wrong_type};
use super::problem::{ProblemCode, Problems};
use super::scope::{Days, Scope};
use super::{Attributes, MAX_NUMBER, MAX_WEIGHT, Resource, Slot, canonical};

/// What items refer to.
pub(crate) struct Frame<'a> {
    pub(crate) resources: &'a [Resource],
    pub(crate) slots: &'a [Slot],
    pub(crate) calendar: Calendar,
    pub(crate) resource_places: &'a HashMap<&'a str, usize>,
    pub(crate) slot_places: &'a HashMap<&'a str, usize>,
    /// The slots as the caller wrote them.
    pub(crate) written: &'a [Value],
    /// Whether nothing is wrong with resources and slots: else it is not known which of them a condition chooses.
    pub(crate) is_whole: bool,
}

/// Attributes and the values they must have.
pub(crate) struct Condition(Vec<(String, String)>);

impl Condition {
    pub(crate) fn holds(&self, attributes: &Attributes) -> bool {
        self.0
            .iter()
            .all(|(key, value)| attributes.get(key) == Some(value))
    }

    /// In words: `role = "rn" and senior = true`.
    pub(crate) fn words(&self) -> String {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        parts.join(" and ")
    }
}

pub(crate) struct ItemReader<'a> {
    pub(crate) fields: Fields<'a>,
    pub(crate) frame: &'a Frame<'a>,
    /// Problems that were found before this item.
    pub(crate) before: usize,
    pub(crate) problems: &'a mut Problems,
    pub(crate) is_preference: bool,
}

impl ItemReader<'_> {
    /// `resource_ids` or `resource_where`, `slot_ids` or `slot_where`, `from` and `to`; absent is all.
    pub(crate) fn scope(&mut self) -> Scope {
        let resources = self.resources();
        let (slots, days) = self.slots();
        Scope {
            resources,
            slots,
            days,
        }
    }

    /// `resource_ids` or `resource_where`; both narrow.
    pub(crate) fn resources(&mut self) -> Vec<usize> {
        let frame = self.frame;
        let mut chosen: Vec<usize> = match self.fields.list("resource_ids", self.problems) {
            None => (0..frame.resources.len()).collect(),
            Some(ids) => {
                let pointer = self.fields.at("resource_ids");
                let known = frame.resource_places;
                known_ids(
                    &pointer,
                    ids,
                    known,
                    ProblemCode::UnknownResource,
                    self.problems,
                )
            }
        };
        let before = self.problems.len();
        let condition = self.condition("resource_where");
        if self.problems.len() > before {
            // What it would choose is not known.
            return Vec::new();
        }
        if let Some(condition) = condition {
            chosen.retain(|resource| {
                let resource = frame.resources.get(*resource);
                resource.is_some_and(|resource| condition.holds(&resource.attributes))
            });
        }
        chosen
    }

    /// `slot_ids` or `slot_where`, `from` and `to`; all of them narrow.
    pub(crate) fn slots(&mut self) -> (Vec<usize>, Days) {
        let frame = self.frame;
        let mut chosen: Vec<usize> = match self.fields.list("slot_ids", self.problems) {
            None => (0..frame.slots.len()).collect(),
            Some(ids) => {
                let pointer = self.fields.at("slot_ids");
                known_ids(
                    &pointer,
                    ids,
                    frame.slot_places,
                    ProblemCode::UnknownSlot,
                    self.problems,
                )
            }
        };
        let before = self.problems.len();
        let condition = self.condition("slot_where");
        let days = self.days();
        if self.problems.len() > before {
            return (Vec::new(), days);
        }
        let is_every_day = days.len() == frame.calendar.days;
        chosen.retain(|slot| {
            frame.slots.get(*slot).is_some_and(|slot| {
                let wanted = condition
                    .as_ref()
                    .is_none_or(|condition| condition.holds(&slot.attributes));
                wanted && (is_every_day || days.iter().contains(&slot.day))
            })
        });
        (chosen, days)
    }

    fn days(&mut self) -> Days {
        let (from, to) = (self.date("from"), self.date("to"));
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            let message = "is before `from`";
            self.problems
                .add(self.fields.at("to"), ProblemCode::MinAboveMax, message);
        }
        let calendar = self.frame.calendar;
        let place = |date: Date| {
            let offset = usize::try_from(calendar.offset(date)).unwrap_or(0);
            offset.min(calendar.days)
        };
        let first = from.map_or(0, place);
        let end = to.map_or(calendar.days, |to| match calendar.offset(to) {
            offset if offset < 0 => 0,
            _ => (place(to) + 1).min(calendar.days),
        });
        Days {
            first,
            end: end.max(first),
        }
    }

    fn date(&mut self, name: &'static str) -> Option<Date> {
        let text = self.fields.text(name, self.problems)?;
        date_at(self.fields.at(name), text, self.problems)
    }

    /// Dates of a list, as days of the spec; those outside of it are left out.
    pub(crate) fn dates(&mut self, name: &'static str) -> Option<Vec<usize>> {
        let values = self.fields.list(name, self.problems)?;
        let mut days = Vec::new();
        for (place, value) in values.iter().enumerate() {
            let pointer = format!("{}/{place}", self.fields.at(name));
            let Some(text) = fields::text(pointer.clone(), value, self.problems) else {
                continue;
            };
            let Some(date) = date_at(pointer, text, self.problems) else {
                continue;
            };
            let day = usize::try_from(self.frame.calendar.offset(date));
            days.extend(day.ok().filter(|day| *day < self.frame.calendar.days));
        }
        Some(days)
    }

    /// A condition, where the field is there.
    pub(crate) fn condition(&mut self, name: &'static str) -> Option<Condition> {
        let value = self.fields.get(name)?;
        condition(self.fields.at(name), value, self.problems)
    }

    pub(crate) fn required_condition(&mut self, name: &'static str) -> Condition {
        let found = match self.fields.required(name, self.problems) {
            Some(value) => condition(self.fields.at(name), value, self.problems),
            None => None,
        };
        found.unwrap_or(Condition(Vec::new()))
    }

    /// A required integer, and the least where it is wrong.
    pub(crate) fn required_integer(&mut self, name: &'static str, least: i64, most: i64) -> i64 {
        let found = match self.fields.required(name, self.problems) {
            Some(value) => fields::integer(self.fields.at(name), value, least, most, self.problems),
            None => None,
        };
        found.unwrap_or(least)
    }

    pub(crate) fn integer(&mut self, name: &'static str, least: i64, most: i64) -> Option<i64> {
        self.fields.integer(name, least, most, self.problems)
    }

    /// `min` and `max`, at least one of them.
    pub(crate) fn bounds(&mut self) -> (Option<i64>, Option<i64>) {
        let is_absent = self.fields.get("min").is_none() && self.fields.get("max").is_none();
        if is_absent {
            let message = "`min`, `max` or both are required";
            self.problems
                .add(self.fields.at("max"), ProblemCode::MissingField, message);
        }
        let (min, max) = (
            self.integer("min", 0, MAX_NUMBER),
            self.integer("max", 0, MAX_NUMBER),
        );
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            let message = "is above `max`";
            self.problems
                .add(self.fields.at("min"), ProblemCode::MinAboveMax, message);
        }
        (min, max)
    }

    /// The place of a word among the allowed ones; the first where the field is absent.
    pub(crate) fn word(&mut self, name: &'static str, words: &[&str]) -> usize {
        let Some(text) = self.fields.text(name, self.problems) else {
            return 0;
        };
        let place = words.iter().position(|word| *word == text);
        if place.is_none() {
            let message = format!("must be one of {}", words.join(", "));
            self.problems
                .add(self.fields.at(name), ProblemCode::OutOfRange, message);
        }
        place.unwrap_or(0)
    }

    /// The field must be there; its value is read elsewhere.
    pub(crate) fn insist(&mut self, name: &'static str) {
        self.fields.required(name, self.problems);
    }

    /// A rule about one kind of slots must name it.
    pub(crate) fn insist_on_kind(&mut self) {
        if self.fields.get("slot_ids").is_none() {
            self.fields.required("slot_where", self.problems);
        }
    }

    /// A rule about a group must say which, and a group has two members.
    pub(crate) fn insist_on_group(
        &mut self,
        ids: &'static str,
        condition: &'static str,
        members: usize,
    ) {
        let by_id = self.fields.get(ids).is_some();
        if !by_id && self.fields.get(condition).is_none() {
            let message = format!("`{ids}` or `{condition}` is required");
            self.problems
                .add(self.fields.at(ids), ProblemCode::MissingField, message);
        } else if members < 2 && self.knows_members(ids, condition) {
            let name = if by_id { ids } else { condition };
            let message = "must be about two or more";
            self.problems
                .add(self.fields.at(name), ProblemCode::OutOfRange, message);
        }
    }

    /// Whether what a group lacks is lacking for sure, and not because something else was not understood.
    fn knows_members(&mut self, ids: &'static str, condition: &'static str) -> bool {
        let listed = self.fields.get(ids).and_then(Value::as_array);
        let is_one = listed.is_some_and(|ids| ids.len() == 1);
        let is_clear = [ids, condition, "from", "to"].iter().all(|name| {
            let pointer = self.fields.at(name);
            !self.problems.any_in(&pointer, self.before)
        });
        is_one || (self.frame.is_whole && is_clear)
    }

    /// Conditions, one per day of a sequence of two or more.
    pub(crate) fn pattern(&mut self, name: &'static str, most: usize) -> Vec<Condition> {
        let Some(values) = self.fields.required_list(name, self.problems) else {
            return Vec::new();
        };
        let pointer = self.fields.at(name);
        if !(2..=most).contains(&values.len()) {
            let message = format!("must have 2 to {most} items");
            self.problems
                .add(pointer.as_str(), ProblemCode::OutOfRange, message);
        }
        let steps = values.iter().take(most).enumerate();
        steps
            .filter_map(|(place, value)| {
                condition(format!("{pointer}/{place}"), value, self.problems)
            })
            .collect()
    }

    /// What the attribute that a field names says of each of these resources; 0 where it says nothing.
    pub(crate) fn rates(&mut self, name: &'static str, resources: &[usize]) -> Vec<i64> {
        let Some(key) = self.fields.required_text(name, self.problems) else {
            return Vec::new();
        };
        let mut rates = Vec::with_capacity(resources.len());
        for place in resources {
            let Some(resource) = self.frame.resources.get(*place) else {
                continue;
            };
            let text = resource.attributes.get(key);
            let rate = text.map_or(Some(0), |text| text.parse().ok());
            let rate = rate.filter(|rate| (0..=MAX_WEIGHT).contains(rate));
            if rate.is_none() {
                let pointer = format!("/resources/{}/attributes", resource.place);
                let message = format!(
                    "must have an integer from 0 to {MAX_WEIGHT} where a preference reads a cost"
                );
                self.problems.add(pointer, ProblemCode::WrongType, message);
            }
            rates.push(rate.unwrap_or(0));
        }
        rates
    }

    /// `[{"slot_id": …, "resource_ids": […]}]`, as pairs of a resource and a slot.
    pub(crate) fn assignments(&mut self, name: &'static str) -> Vec<(usize, usize)> {
        let frame = self.frame;
        let values = self.fields.required_list(name, self.problems);
        let pointer = self.fields.at(name);
        let mut pairs = Vec::new();
        for (place, value) in values.unwrap_or_default().iter().enumerate() {
            let here = format!("{pointer}/{place}");
            let Some(mut fields) = Fields::of(here.clone(), value, self.problems) else {
                continue;
            };
            let slot = fields
                .required_text("slot_id", self.problems)
                .and_then(|id| {
                    let slot = frame.slot_places.get(id).copied();
                    if slot.is_none() {
                        let message = "is not an id of this spec";
                        self.problems.add(
                            format!("{here}/slot_id"),
                            ProblemCode::UnknownSlot,
                            message,
                        );
                    }
                    slot
                });
            let ids = fields
                .required_list("resource_ids", self.problems)
                .unwrap_or_default();
            // A slot of an earlier result may have nobody.
            let resources = if ids.is_empty() {
                Vec::new()
            } else {
                let (here, known) = (format!("{here}/resource_ids"), frame.resource_places);
                known_ids(
                    &here,
                    ids,
                    known,
                    ProblemCode::UnknownResource,
                    self.problems,
                )
            };
            fields.finish(self.problems);
            pairs.extend(
                slot.into_iter()
                    .flat_map(|slot| resources.iter().map(move |resource| (*resource, slot))),
            );
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Every one of these slots must say when it starts and ends. Where one says it wrongly, that is the problem.
    pub(crate) fn need_times(&mut self, slots: &[usize]) {
        for slot in slots.iter().filter_map(|slot| self.frame.slots.get(*slot)) {
            let written = self.frame.written.get(slot.place);
            let says = |name: &str| written.is_some_and(|slot| slot.get(name).is_some());
            if slot.times.is_none() && !says("start") && !says("end") {
                let pointer = format!("/slots/{}", slot.place);
                let message = "needs `start` and `end`, as a rule measures its time";
                self.problems.add(pointer, ProblemCode::NeedsTimes, message);
            }
        }
    }
}

pub(crate) fn date_at(pointer: String, text: &str, problems: &mut Problems) -> Option<Date> {
    let date = calendar::date(text);
    if date.is_none() {
        let message = "must be a date, YYYY-MM-DD, that exists";
        problems.add(pointer, ProblemCode::BadDate, message);
    }
    date
}

/// Ids of a list as places, ascending.
pub(crate) fn known_ids(
    pointer: &str,
    ids: &[Value],
    known: &HashMap<&str, usize>,
    unknown: ProblemCode,
    problems: &mut Problems,
) -> Vec<usize> {
    let mut places = Vec::with_capacity(ids.len());
    for (index, value) in ids.iter().enumerate() {
        let here = format!("{pointer}/{index}");
        let Some(id) = fields::text(here.clone(), value, problems) else {
            continue;
        };
        match known.get(id) {
            None => problems.add(here, unknown, "is not an id of this spec"),
            Some(place) => places.push((*place, here)),
        }
    }
    if ids.is_empty() {
        problems.add(pointer, ProblemCode::OutOfRange, "must not be empty");
    }
    places.sort();
    for pair in places.windows(2) {
        if let [(one, _), (other, here)] = pair
            && one == other
        {
            problems.add(here.as_str(), ProblemCode::DuplicateId, "stands twice");
        }
    }
    let mut places: Vec<usize> = places.into_iter().map(|(place, _)| place).collect();
    places.dedup();
    places
}

/// `[{"key": …, "equals": …}]`; every part must hold.
pub(crate) fn condition(
    pointer: String,
    value: &Value,
    problems: &mut Problems,
) -> Option<Condition> {
    let Some(parts) = value.as_array() else {
        wrong_type(problems, pointer, "an array", value);
        return None;
    };
    let mut read = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let Some(mut fields) = Fields::of(format!("{pointer}/{index}"), part, problems) else {
            continue;
        };
        let key = fields.required_text("key", problems);
        let equals = fields.required("equals", problems);
        if let (Some(key), Some(equals)) = (key, equals) {
            read.push((key.to_owned(), canonical::value(equals)));
        }
        fields.finish(problems);
    }
    read.sort();
    read.dedup();
    Some(Condition(read))
}
