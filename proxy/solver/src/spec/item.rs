//! Reading one constraint or preference: its scope and its own fields, against the resources and slots of the spec.

use std::collections::{BTreeSet, HashMap};

use jiff::civil::Date;
use serde_json::Value;

use super::calendar::{self, Calendar};
use super::fields::{self, Fields, wrong_type};
use super::places::{Index, Lists, Places, keep_common};
use super::problem::{ProblemCode, Problems};
use super::scope::{Days, Scope};
use super::{MAX_NUMBER, MAX_WEIGHT, Resource, Slot, canonical};

/// What items refer to.
pub(crate) struct Frame<'a> {
    pub(crate) resources: &'a [Resource],
    pub(crate) slots: &'a [Slot],
    pub(crate) calendar: Calendar,
    pub(crate) resource_places: &'a HashMap<&'a str, usize>,
    pub(crate) slot_places: &'a HashMap<&'a str, usize>,
    pub(crate) resource_index: &'a Index<'a>,
    pub(crate) slot_index: &'a Index<'a>,
    /// Slots of which the caller said neither when they start nor when they end, ascending.
    pub(crate) untimed: &'a [usize],
    /// Whether nothing is wrong with resources and slots: else it is not known which of them a condition chooses.
    pub(crate) is_whole: bool,
}

/// What the items of a spec leave behind for the spec as a whole.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) lists: Lists,
    /// Slots that need times and have none.
    pub(crate) needing_times: BTreeSet<usize>,
    /// Resources with an attribute that is read as a cost and is none.
    pub(crate) without_rate: BTreeSet<usize>,
}

impl Gathered {
    /// Notes each problem once, however many items have it.
    pub(crate) fn finish(self, resources: &[Resource], slots: &[Slot], problems: &mut Problems) {
        for slot in self
            .needing_times
            .iter()
            .filter_map(|slot| slots.get(*slot))
        {
            let pointer = format!("/slots/{}", slot.place);
            let message = "needs `start` and `end`, as a rule measures its time";
            problems.add(pointer, ProblemCode::NeedsTimes, message);
        }
        let resources = self.without_rate.iter().map(|place| resources.get(*place));
        for resource in resources.flatten() {
            let pointer = format!("/resources/{}/attributes", resource.place);
            let message = format!(
                "must have an integer from 0 to {MAX_WEIGHT} where a preference reads a cost"
            );
            problems.add(pointer, ProblemCode::WrongType, message);
        }
    }
}

/// Attributes and the values they must have.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Condition(Vec<(String, String)>);

impl Condition {
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.0.iter();
        parts.map(|(key, value)| (key.as_str(), value.as_str()))
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
    pub(crate) gathered: &'a mut Gathered,
    pub(crate) problems: &'a mut Problems,
    pub(crate) is_preference: bool,
    /// Fields of the scope in which something is wrong.
    pub(crate) flawed: Vec<&'static str>,
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
    pub(crate) fn resources(&mut self) -> Places {
        let frame = self.frame;
        let unknown = ProblemCode::UnknownResource;
        let ids = self.ids("resource_ids", frame.resource_places, unknown);
        let Ok(condition) = self.scope_condition("resource_where") else {
            return Places::default();
        };
        let Some(mut chosen) = ids else {
            return self.resources_of(&condition.unwrap_or_default());
        };
        if let Some(condition) = condition {
            keep_common(&mut chosen, &self.resources_of(&condition));
        }
        self.gathered.lists.keep(chosen)
    }

    fn resources_of(&mut self, condition: &Condition) -> Places {
        let index = self.frame.resource_index;
        self.gathered.lists.resources(index, condition)
    }

    /// `slot_ids` or `slot_where`, `from` and `to`; all of them narrow.
    pub(crate) fn slots(&mut self) -> (Places, Days) {
        let frame = self.frame;
        let ids = self.ids("slot_ids", frame.slot_places, ProblemCode::UnknownSlot);
        let before = self.problems.len();
        let condition = self.scope_condition("slot_where");
        let days = self.days();
        let condition = match condition {
            Ok(condition) if self.problems.len() == before => condition,
            _ => return (Places::default(), days),
        };
        let chosen = match ids {
            None => self.slots_of(&condition.unwrap_or_default(), days),
            Some(mut chosen) => {
                keep_common(
                    &mut chosen,
                    &self.slots_of(&condition.unwrap_or_default(), days),
                );
                self.gathered.lists.keep(chosen)
            }
        };
        (chosen, days)
    }

    /// The slots of a kind on some days.
    pub(crate) fn slots_of(&mut self, condition: &Condition, days: Days) -> Places {
        let frame = self.frame;
        let before = |day: usize| frame.slots.partition_point(|slot| slot.day < day);
        let on_days = if days.len() == frame.calendar.days {
            // Also slots whose day is not known.
            0..frame.slots.len()
        } else {
            before(days.first)..before(days.end)
        };
        let lists = &mut self.gathered.lists;
        lists.slots(frame.slot_index, condition, days, &on_days)
    }

    /// Those of a scope's resources that meet a condition.
    pub(crate) fn narrowed(&mut self, resources: &Places, condition: &Condition) -> Places {
        let mut chosen = resources.to_vec();
        keep_common(&mut chosen, &self.resources_of(condition));
        self.gathered.lists.keep(chosen)
    }

    /// Those of a scope's slots that are wanted.
    pub(crate) fn those(&mut self, slots: Places, is_wanted: impl Fn(&Slot) -> bool) -> Places {
        let all = self.frame.slots;
        let is_wanted = |slot: &usize| all.get(*slot).is_some_and(&is_wanted);
        if slots.iter().all(is_wanted) {
            return slots;
        }
        let wanted = slots.iter().copied().filter(is_wanted).collect();
        self.gathered.lists.keep(wanted)
    }

    /// The ids of a list as places, where the field is there.
    fn ids(
        &mut self,
        name: &'static str,
        known: &HashMap<&str, usize>,
        unknown: ProblemCode,
    ) -> Option<Vec<usize>> {
        self.noting(name, |reader| {
            let ids = reader.fields.list(name, reader.problems)?;
            let pointer = reader.fields.at(name);
            Some(known_ids(&pointer, ids, known, unknown, reader.problems))
        })
    }

    /// A condition of the scope, where the field is there; `Err` where it is not known what it would choose.
    fn scope_condition(&mut self, name: &'static str) -> Result<Option<Condition>, ()> {
        let before = self.problems.len();
        let condition = self.noting(name, |reader| reader.condition(name));
        if self.problems.len() > before {
            Err(())
        } else {
            Ok(condition)
        }
    }

    /// Reads a field of the scope, and notes whether anything is wrong with it.
    fn noting<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.problems.len();
        let read = read(self);
        if self.problems.len() > before {
            self.flawed.push(name);
        }
        read
    }

    fn days(&mut self) -> Days {
        let (from, to) = (self.date("from"), self.date("to"));
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            let message = "is before `from`";
            self.problems
                .add(self.fields.at("to"), ProblemCode::MinAboveMax, message);
            self.flawed.push("to");
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
        self.noting(name, |reader| {
            let text = reader.fields.text(name, reader.problems)?;
            date_at(reader.fields.at(name), text, reader.problems)
        })
    }

    /// Dates of a list, as days of the spec, ascending; those outside of it are left out.
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
        days.sort_unstable();
        days.dedup();
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
        found.unwrap_or_default()
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
        let telling = [ids, condition, "from", "to"];
        let is_clear = !telling.iter().any(|name| self.flawed.contains(name));
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
                self.gathered.without_rate.insert(*place);
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
        let (untimed, noted) = (self.frame.untimed, &mut self.gathered.needing_times);
        // Many rules about the same slots look once.
        if noted.len() < untimed.len() {
            let mut untimed = untimed.to_vec();
            keep_common(&mut untimed, slots);
            noted.extend(untimed);
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
        let here = || format!("{pointer}/{index}");
        match value.as_str().map(|id| known.get(id)) {
            None => wrong_type(problems, here(), "a string", value),
            Some(None) => problems.add(here(), unknown, "is not an id of this spec"),
            Some(Some(place)) => places.push((*place, index)),
        }
    }
    if ids.is_empty() {
        problems.add(pointer, ProblemCode::OutOfRange, "must not be empty");
    }
    places.sort_unstable();
    for pair in places.windows(2) {
        if let [(one, _), (other, index)] = pair
            && one == other
        {
            let here = format!("{pointer}/{index}");
            problems.add(here, ProblemCode::DuplicateId, "stands twice");
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
        let equals = fields.required_any("equals", problems);
        if let (Some(key), Some(equals)) = (key, equals) {
            read.push((key.to_owned(), canonical::value(equals)));
        }
        fields.finish(problems);
    }
    read.sort();
    read.dedup();
    Some(Condition(read))
}
