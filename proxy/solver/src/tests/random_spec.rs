//! Small random specs in which every type of the vocabulary turns up with all of its fields.

use serde_json::{Map, Value, json};

/// A linear congruential generator (Knuth's MMIX constants): the same specs on every run.
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

const ROLES: [&str; 2] = ["rn", "md"];
const SHIFTS: [&str; 2] = ["day", "night"];
/// Overlapping, touching and midnight-crossing times.
const TIMES: [(&str, &str); 5] = [
    ("08:00", "16:00"),
    ("16:00", "00:00"),
    ("22:00", "06:00"),
    ("12:00", "20:00"),
    ("06:00", "14:00"),
];
/// From a Thursday, so that short horizons meet weekends.
const DAYS: [&str; 6] = [
    "2026-11-05",
    "2026-11-06",
    "2026-11-07",
    "2026-11-08",
    "2026-11-09",
    "2026-11-10",
];

/// A spec with an item of this type, and perhaps others.
pub(super) fn spec(random: &mut Random, word: &str, is_preference: bool, words: &[&str]) -> Value {
    let resources = 2 + random.below(2);
    let slots = if resources == 2 {
        4 + random.below(3)
    } else {
        4
    };
    let (first, days) = (random.below(2), 3 + random.below(2));
    let resources: Vec<Value> = (0..resources)
        .map(|place| {
            let role = random.pick(&ROLES);
            let senior = random.chance(2);
            json!({"id": format!("r{place}"), "attributes": {"role": role, "senior": senior, "rate": random.below(4)}})
        })
        .collect();
    let slots: Vec<Value> = (0..slots)
        .map(|place| {
            let (start, end) = random.pick(&TIMES);
            json!({
                "id": format!("s{place}"),
                "day": DAYS[first + random.below(days)],
                "start": start,
                "end": end,
                "attributes": {"shift": random.pick(&SHIFTS)},
                "requirements": requirements(random),
            })
        })
        .collect();
    let frame = (resources.len(), slots.len());
    let mut constraints = Vec::new();
    let mut preferences = Vec::new();
    if is_preference {
        preferences.push(item(random, word, true, frame));
    } else {
        constraints.push(item(random, word, false, frame));
    }
    for _ in 0..random.below(3) {
        let other = *random.pick(words);
        if crate::vocabulary::find(other, crate::Strength::Hard).is_some() && random.chance(2) {
            constraints.push(item(random, other, false, frame));
        }
    }
    for _ in 0..random.below(3) {
        let other = *random.pick(words);
        if crate::vocabulary::find(other, crate::Strength::Soft).is_some() {
            preferences.push(item(random, other, true, frame));
        }
    }
    json!({"version": 1, "resources": resources, "slots": slots, "constraints": constraints, "preferences": preferences})
}

fn requirements(random: &mut Random) -> Value {
    match random.below(6) {
        0 => json!([]),
        1 => json!([{"count": 1, "where": [{"key": "role", "equals": random.pick(&ROLES)}]}]),
        2 => json!([
            {"count": 1, "where": [{"key": "role", "equals": "rn"}]},
            {"count": 1, "where": [{"key": "senior", "equals": true}]},
        ]),
        _ => json!([{"count": 1 + usize::from(random.chance(4)), "where": []}]),
    }
}

/// Fields at random, those of the scope included.
fn item(random: &mut Random, word: &str, is_preference: bool, frame: (usize, usize)) -> Value {
    let mut fields = Map::new();
    fields.insert("type".into(), json!(word));
    if is_preference && word != "soft_coverage" {
        fields.insert("weight".into(), json!(1 + random.below(5)));
    }
    let groups = ["apart", "together"].contains(&word);
    let slot_groups = ["same_resource", "different_resources"].contains(&word);
    let by_id = groups || word == "fixed";
    // As a constraint, a mix of few people would leave hardly any spec feasible.
    let takes_resources = word != "soft_coverage" && (is_preference || word != "slot_mix");
    if takes_resources {
        if by_id || random.chance(3) {
            let ids = ids(random, "r", frame.0, if groups { 2 } else { 1 });
            fields.insert("resource_ids".into(), ids);
        } else if random.chance(3) {
            let condition = json!([{"key": "role", "equals": random.pick(&ROLES)}]);
            fields.insert("resource_where".into(), condition);
        }
    }
    if word == "fixed" || slot_groups || random.chance(4) {
        let ids = ids(random, "s", frame.1, if slot_groups { 2 } else { 1 });
        fields.insert("slot_ids".into(), ids);
    } else if word == "consecutive_slots" || random.chance(4) {
        let condition = json!([{"key": "shift", "equals": random.pick(&SHIFTS)}]);
        fields.insert("slot_where".into(), condition);
    }
    if !slot_groups && random.chance(6) {
        fields.insert("from".into(), json!(random.pick(&DAYS)));
    }
    own_fields(random, word, &mut fields, frame);
    Value::Object(fields)
}

fn ids(random: &mut Random, prefix: &str, of: usize, least: usize) -> Value {
    // Few rather than many, so that specs stay feasible.
    let count = least + random.below(of - least + 1).min(random.below(of));
    let first = random.below(of);
    let ids = (0..count).map(|place| format!("{prefix}{}", (first + place) % of));
    json!(ids.collect::<Vec<_>>())
}

fn own_fields(
    random: &mut Random,
    word: &str,
    fields: &mut Map<String, Value>,
    frame: (usize, usize),
) {
    let mut set = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    match word {
        "max_per_day" | "max_weekends" => set("limit", json!(random.below(3))),
        "count" | "minutes" => {
            set(
                "period",
                json!(random.pick(&["horizon", "week", "weekend"])),
            );
            let scale = if word == "minutes" { 240 } else { 1 };
            bounds(random, scale, &mut set);
        }
        "rolling" => {
            let unit = *random.pick(&["slots", "days", "minutes"]);
            set("window_days", json!(1 + random.below(4)));
            set("unit", json!(unit));
            bounds(random, if unit == "minutes" { 240 } else { 1 }, &mut set);
        }
        "consecutive_days" | "consecutive_days_off" | "consecutive_slots" => {
            bounds(random, 1, &mut set);
        }
        "forbidden_sequence" => {
            let steps = 2 + usize::from(random.chance(4));
            let steps =
                (0..steps).map(|_| json!([{"key": "shift", "equals": random.pick(&SHIFTS)}]));
            let steps: Vec<Value> = steps.collect();
            set("pattern", json!(steps));
        }
        "min_rest" => set("minutes", json!(60 * (1 + random.below(14)))),
        "unavailable" => set("days", json!([random.pick(&DAYS)])),
        "slot_mix" => {
            set("where", json!([{"key": "senior", "equals": true}]));
            bounds(random, 1, &mut set);
        }
        "apart" | "together" => set("per", json!(random.pick(&["slot", "day"]))),
        "soft_coverage" => {
            if random.chance(2) {
                set("over_weight", json!(1 + random.below(3)));
            }
            set("under_weight", json!(1 + random.below(9)));
        }
        "balance" => set("unit", json!(random.pick(&["slots", "minutes", "days"]))),
        "cost" => set("attribute", json!("rate")),
        "stability" => {
            let slot = format!("s{}", random.below(frame.1));
            set(
                "baseline",
                json!([{"slot_id": slot, "resource_ids": ["r0", "r1"]}]),
            );
        }
        _ => {}
    }
}

fn bounds(random: &mut Random, scale: usize, set: &mut impl FnMut(&str, Value)) {
    let min = random.below(3);
    let max = min + random.below(3);
    match random.below(3) {
        0 => set("min", json!(min * scale)),
        1 => set("max", json!(max * scale)),
        _ => {
            set("min", json!(min * scale));
            set("max", json!(max * scale));
        }
    }
}
