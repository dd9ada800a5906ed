//! From the bytes of a request to a spec. Two kinds of refusal: what the interface itself forbids is
//! `VALIDATION_FAILED`; what the vocabulary does not allow is `SOLVER_SPEC_INVALID`, with every problem at once.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use serde_json::{Map, Value};
use svc_core::fault::{Fault, Problems as Invalid};
use svc_core::json;

use super::calendar::{self, Calendar};
use super::fields::{self, Fields};
use super::item::{self, Condition, Frame, Gathered, ItemReader};
use super::places::{Index, Lists, Places};
use super::problem::{EXPANDS, ProblemCode, Problems};
use super::{
    Attributes, DEFAULT_TIME_LIMIT_SECONDS, Item, MAX_DAYS, MAX_ID_CHARS, MAX_ITEMS, MAX_PAIRS,
    MAX_REQUIREMENTS, MAX_RESOURCES, MAX_SLOTS, MAX_TIME_LIMIT_SECONDS, MAX_WEIGHT, Requirement,
    Resource, Slot, Spec, Times, canonical,
};
use crate::vocabulary::{self, Strength};

/// Reads a spec.
///
/// # Errors
/// 422 `VALIDATION_FAILED` for what the interface forbids, else `SOLVER_SPEC_INVALID` with every problem (spec,
/// Endpoints).
pub fn parse(bytes: &[u8]) -> Result<Spec, Fault> {
    // Its bytes bound it, and how many are read at once ([`crate::Pool::read`]).
    let document = json::large_object(bytes)?;
    interface_rules(&document)?;
    let mut problems = Problems::default();
    let spec = read(&document, &mut problems);
    problems.into_result(&document)?;
    spec.ok_or_else(|| Fault::internal("a spec without problems was not read"))
}

/// Rules 1 to 3 of the interface.
fn interface_rules(document: &Map<String, Value>) -> Result<(), Fault> {
    let mut invalid = Invalid::default();
    for name in ["resources", "slots"] {
        match document.get(name) {
            Some(Value::Array(items)) if !items.is_empty() => {}
            Some(Value::Array(_)) => invalid.add(name, "must not be empty"),
            Some(_) => invalid.add(name, "must be an array"),
            None => invalid.add(name, "is required"),
        }
    }
    for name in ["resources_from", "slots_from"] {
        if document.contains_key(name) {
            invalid.add(name, "this endpoint accepts literal data only");
        }
    }
    let limit = document
        .get("options")
        .and_then(|options| options.get("time_limit_seconds"))
        .filter(|limit| !limit.is_null());
    if let Some(limit) = limit {
        let allowed = fields::whole(limit)
            .is_some_and(|seconds| (1..=MAX_TIME_LIMIT_SECONDS).contains(&seconds));
        if !allowed {
            let message = format!("must be an integer from 1 to {MAX_TIME_LIMIT_SECONDS}");
            invalid.add("options.time_limit_seconds", message);
        }
    }
    invalid.into_result()
}

/// The only version of specs there is.
const SPEC_VERSION: i64 = 1;

fn read(document: &Map<String, Value>, problems: &mut Problems) -> Option<Spec> {
    let mut fields = Fields::new(String::new(), document);
    fields.integer("version", SPEC_VERSION, SPEC_VERSION, problems);
    let resources = fields.list("resources", problems).unwrap_or_default();
    let slots = fields.list("slots", problems).unwrap_or_default();
    let constraints = fields.list("constraints", problems).unwrap_or_default();
    let preferences = fields.list("preferences", problems).unwrap_or_default();
    let time_limit_seconds = options(&mut fields, problems);
    fields.finish(problems);
    let sizes = [
        ("/resources", resources.len(), MAX_RESOURCES),
        ("/slots", slots.len(), MAX_SLOTS),
        ("/constraints", constraints.len(), MAX_ITEMS),
        ("/preferences", preferences.len(), MAX_ITEMS),
    ];
    for (pointer, size, most) in sizes {
        if size > most {
            let message = format!("must not have more than {most} items");
            problems.add(pointer, ProblemCode::TooLarge, message);
        }
    }
    if !problems.is_empty() && sizes.iter().any(|(_, size, most)| size > most) {
        return None;
    }
    let before = problems.len();
    let mut gathered = Gathered::default();
    let resources = read_resources(resources, problems);
    let resource_index = Index::new(resources.iter().map(|resource| &resource.attributes));
    let written = slots;
    let (slots, calendar) = read_slots(slots, &resource_index, &mut gathered.lists, problems);
    let slot_index = Index::new(slots.iter().map(|slot| &slot.attributes));
    let untimed: Vec<usize> = (0..)
        .zip(&slots)
        .filter(|(_, slot)| is_untimed(slot, written))
        .map(|(place, _)| place)
        .collect();
    let resource_places = places(resources.iter().map(|resource| resource.id.as_str()));
    let slot_places = places(slots.iter().map(|slot| slot.id.as_str()));
    let frame = Frame {
        resources: &resources,
        slots: &slots,
        calendar,
        resource_places: &resource_places,
        slot_places: &slot_places,
        resource_index: &resource_index,
        slot_index: &slot_index,
        untimed: &untimed,
        is_whole: problems.len() == before,
    };
    let mut items = |list, values, strength| {
        read_items(list, values, strength, &frame, &mut gathered, problems)
    };
    let hard = items("constraints", constraints, Strength::Hard);
    let soft = items("preferences", preferences, Strength::Soft);
    if gathered.lists.are_too_long() {
        problems.add("", ProblemCode::TooLarge, EXPANDS);
    }
    gathered.finish(&resources, &slots, problems);
    Some(Spec {
        resources,
        slots,
        calendar,
        hard,
        soft,
        time_limit_seconds,
    })
}

/// Whether the caller said neither when a slot starts nor when it ends. Where one is said wrongly, that is the problem.
fn is_untimed(slot: &Slot, written: &[Value]) -> bool {
    let written = written.get(slot.place);
    let says = |name: &str| {
        let said = written.and_then(|slot| slot.get(name));
        said.is_some_and(|said| !said.is_null())
    };
    slot.times.is_none() && !says("start") && !says("end")
}

fn options(fields: &mut Fields<'_>, problems: &mut Problems) -> i64 {
    let options = fields
        .get("options")
        .and_then(|value| Fields::of("/options".to_owned(), value, problems));
    let Some(mut options) = options else {
        return DEFAULT_TIME_LIMIT_SECONDS;
    };
    let limit = options.integer("time_limit_seconds", 1, MAX_TIME_LIMIT_SECONDS, problems);
    options.finish(problems);
    limit.unwrap_or(DEFAULT_TIME_LIMIT_SECONDS)
}

fn places<'a>(ids: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    ids.enumerate().map(|(place, id)| (id, place)).collect()
}

fn id<'a>(fields: &mut Fields<'a>, problems: &mut Problems) -> Option<&'a str> {
    let id = fields.required_text("id", problems)?;
    if id.is_empty() || id.chars().count() > MAX_ID_CHARS {
        let message = format!("must have 1 to {MAX_ID_CHARS} characters");
        problems.add(fields.at("id"), ProblemCode::OutOfRange, message);
        return None;
    }
    Some(id)
}

fn attributes(fields: &mut Fields<'_>, problems: &mut Problems) -> Attributes {
    let pointer = fields.at("attributes");
    match fields.get("attributes") {
        None => Attributes::new(),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(key, value)| (key.clone(), canonical::value(value)))
            .collect(),
        Some(other) => {
            fields::wrong_type(problems, pointer, "an object", other);
            Attributes::new()
        }
    }
}

/// Notes ids that stand twice; the problem is at the later one.
struct Ids {
    list: &'static str,
    seen: BTreeMap<String, usize>,
}

impl Ids {
    const fn new(list: &'static str) -> Self {
        Self {
            list,
            seen: BTreeMap::new(),
        }
    }

    fn note(&mut self, id: &str, place: usize, problems: &mut Problems) {
        if self.seen.insert(id.to_owned(), place).is_some() {
            let pointer = format!("/{}/{place}/id", self.list);
            problems.add(pointer, ProblemCode::DuplicateId, "stands twice");
        }
    }
}

fn read_resources(values: &[Value], problems: &mut Problems) -> Vec<Resource> {
    let mut ids = Ids::new("resources");
    let mut resources = Vec::with_capacity(values.len());
    for (place, value) in values.iter().enumerate() {
        let Some(mut fields) = Fields::of(format!("/resources/{place}"), value, problems) else {
            continue;
        };
        let id = id(&mut fields, problems);
        let attributes = attributes(&mut fields, problems);
        fields.finish(problems);
        if let Some(id) = id {
            ids.note(id, place, problems);
            resources.push(Resource {
                id: id.to_owned(),
                attributes,
                place,
            });
        }
    }
    resources.sort_by(|one, other| one.id.cmp(&other.id));
    resources
}

/// A slot whose day is still a date, if it is one.
struct Dated {
    slot: Slot,
    date: Option<Date>,
}

/// Slots and days, also where they are not good: what else is wrong with the spec is found all the same, and nobody
/// solves it.
fn read_slots(
    values: &[Value],
    resources: &Index<'_>,
    lists: &mut Lists,
    problems: &mut Problems,
) -> (Vec<Slot>, Calendar) {
    let mut ids = Ids::new("slots");
    let mut dated = Vec::with_capacity(values.len());
    let mut pairs = 0;
    for (place, value) in values.iter().enumerate() {
        let mut eligible = |condition: &Condition| {
            if pairs > MAX_PAIRS {
                Places::default()
            } else {
                lists.resources(resources, condition)
            }
        };
        if let Some(read) = read_slot(place, value, &mut eligible, problems) {
            ids.note(&read.slot.id, place, problems);
            pairs += read.slot.candidates().len();
            dated.push(read);
        }
    }
    let dates: Vec<Date> = dated.iter().filter_map(|dated| dated.date).collect();
    let first = dates.iter().min().copied().unwrap_or_default();
    let last = dates.iter().max().copied().unwrap_or(first);
    let days = usize::try_from(calendar::days_between(first, last)).unwrap_or(0) + 1;
    if days > MAX_DAYS {
        let message = format!("must not span more than {MAX_DAYS} days");
        problems.add("/slots", ProblemCode::TooLarge, message);
    }
    let calendar = Calendar::new(first, days);
    let mut slots: Vec<Slot> = dated
        .into_iter()
        .map(|Dated { mut slot, date }| {
            let Some(date) = date else {
                // Behind all days: only what is about every day is about it.
                slot.day = days;
                return slot;
            };
            slot.day = usize::try_from(calendar.offset(date)).unwrap_or(0);
            let midnight = calendar.offset(date) * calendar::MINUTES_PER_DAY;
            slot.times = slot.times.map(|times| Times {
                start: times.start + midnight,
                end: times.end + midnight,
            });
            slot
        })
        .collect();
    slots.sort_by(|one, other| {
        (one.day, one.times, &one.id).cmp(&(other.day, other.times, &other.id))
    });
    if pairs > MAX_PAIRS {
        let message =
            format!("have more than {MAX_PAIRS} pairs of a slot and an eligible resource");
        problems.add("/slots", ProblemCode::TooLarge, message);
    }
    (slots, calendar)
}

fn read_slot(
    place: usize,
    value: &Value,
    eligible: &mut impl FnMut(&Condition) -> Places,
    problems: &mut Problems,
) -> Option<Dated> {
    let mut fields = Fields::of(format!("/slots/{place}"), value, problems)?;
    let id = id(&mut fields, problems);
    let day = fields.required_text("day", problems);
    let date = day.and_then(|text| item::date_at(fields.at("day"), text, problems));
    let times = times(&mut fields, problems);
    let attributes = attributes(&mut fields, problems);
    let requirements = requirements(&mut fields, eligible, problems);
    fields.finish(problems);
    let slot = Slot {
        id: id?.to_owned(),
        day: 0,
        times,
        attributes,
        requirements,
        place,
    };
    Some(Dated { slot, date })
}

/// `start` and `end`, both or neither; an end that is not later is on the next day.
fn times(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Times> {
    let mut minute = |name: &'static str| {
        let text = fields.text(name, problems)?;
        let minute = calendar::minute(text);
        if minute.is_none() {
            problems.add(
                fields.at(name),
                ProblemCode::BadTime,
                "must be a time, HH:MM",
            );
        }
        minute
    };
    let (start, end) = (minute("start"), minute("end"));
    let has = (fields.get("start").is_some(), fields.get("end").is_some());
    match has {
        (true, false) => problems.add(
            fields.at("end"),
            ProblemCode::MissingField,
            "is required with `start`",
        ),
        (false, true) => problems.add(
            fields.at("start"),
            ProblemCode::MissingField,
            "is required with `end`",
        ),
        _ => {}
    }
    let (start, end) = (start?, end?);
    let end = if end > start {
        end
    } else {
        end + calendar::MINUTES_PER_DAY
    };
    Some(Times { start, end })
}

fn requirements(
    fields: &mut Fields<'_>,
    eligible: &mut impl FnMut(&Condition) -> Places,
    problems: &mut Problems,
) -> Vec<Requirement> {
    let pointer = fields.at("requirements");
    let values = fields.list("requirements", problems).unwrap_or_default();
    if values.len() > MAX_REQUIREMENTS {
        let message = format!("must not have more than {MAX_REQUIREMENTS} items");
        problems.add(pointer.as_str(), ProblemCode::TooLarge, message);
        return Vec::new();
    }
    let most = i64::try_from(MAX_RESOURCES).unwrap_or(i64::MAX);
    let mut requirements = Vec::with_capacity(values.len());
    for (place, value) in values.iter().enumerate() {
        let Some(mut fields) = Fields::of(format!("{pointer}/{place}"), value, problems) else {
            continue;
        };
        let count = match fields.required("count", problems) {
            Some(value) => fields::integer(fields.at("count"), value, 0, most, problems),
            None => None,
        };
        let condition = match fields.get("where") {
            Some(value) => item::condition(fields.at("where"), value, problems),
            None => None,
        };
        fields.finish(problems);
        let condition = condition.unwrap_or_default();
        requirements.push(Requirement {
            count: count.unwrap_or(0),
            eligible: eligible(&condition),
            words: condition.words(),
        });
    }
    requirements.sort_by(|one, other| (&one.words, one.count).cmp(&(&other.words, other.count)));
    requirements
}

fn read_items(
    list: &'static str,
    values: &[Value],
    strength: Strength,
    frame: &Frame<'_>,
    gathered: &mut Gathered,
    problems: &mut Problems,
) -> Vec<Item> {
    let mut labels = BTreeMap::new();
    let mut items = Vec::with_capacity(values.len());
    for (place, value) in values.iter().enumerate() {
        if gathered.lists.are_too_long() {
            break;
        }
        let pointer = format!("/{list}/{place}");
        let Some(mut fields) = Fields::of(pointer.clone(), value, problems) else {
            continue;
        };
        let word = fields.required_text("type", problems);
        let given_id = match fields.get("id") {
            Some(_) => id(&mut fields, problems),
            None => None,
        };
        let Some(word) = word else { continue };
        let Some(form) = vocabulary::find(word, strength) else {
            let message = format!("is not a type of {list}");
            problems.add(fields.at("type"), ProblemCode::UnknownType, message);
            continue;
        };
        let weight = match strength {
            Strength::Hard => 0,
            Strength::Soft if form.weighs_itself => 0,
            Strength::Soft => weight(&mut fields, problems),
        };
        let label = match given_id {
            Some(id) => format!("{word}:{id}"),
            None => format!("{word}:{place}"),
        };
        if labels.insert(label.clone(), place).is_some() {
            let message = "stands twice for this type";
            problems.add(fields.at("id"), ProblemCode::DuplicateId, message);
        }
        let mut reader = ItemReader {
            fields,
            frame,
            gathered,
            problems,
            is_preference: strength == Strength::Soft,
            flawed: Vec::new(),
        };
        let rule = (form.read)(&mut reader);
        reader.fields.finish(reader.problems);
        items.push((
            canonical::item(value),
            Item {
                label,
                rule,
                weight,
            },
        ));
    }
    items.sort_by(|one, other| one.0.cmp(&other.0));
    items.into_iter().map(|(_, item)| item).collect()
}

fn weight(fields: &mut Fields<'_>, problems: &mut Problems) -> i64 {
    let found = match fields.required("weight", problems) {
        Some(value) => fields::integer(fields.at("weight"), value, 1, MAX_WEIGHT, problems),
        None => None,
    };
    found.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_spec_may_have_as_many_values_as_its_limits_allow() {
        let ids: Vec<String> = (100..100 + MAX_RESOURCES)
            .map(|id| id.to_string())
            .collect();
        let resources: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        let rule = json!({"type": "max_per_day", "resource_ids": ids, "limit": 1});
        let spec = json!({
            "version": 1,
            "resources": resources,
            "slots": [{"id": "s", "day": "2026-11-02"}],
            "constraints": vec![rule; MAX_ITEMS],
        });
        let bytes = spec.to_string();
        assert!(bytes.len() < 8 * 1024 * 1024, "{}", bytes.len());
        let read = parse(bytes.as_bytes()).map_err(|fault| fault.details_value());
        assert_eq!(read.err(), None);
    }
}
