//! The caps that an organization sets itself (contract 12.4).

use serde_json::{Value, json};
use svc_core::fault::{Fault, Problems};
use svc_core::json::number_text;
use svc_core::money::{MICRO, Micro};
use svc_core::surface::fields::Fields;
use svc_store::budget::{self, Caps, Sums};

use crate::call::{Answering, Call, Deciding, Effect, Reply, change, shown, store_fault};
use crate::input::Given;

/// Half, four fifths and all of a cap (contract 12.4).
const DEFAULT_THRESHOLDS: [Micro; 3] = [Micro(MICRO / 2), Micro(MICRO / 5 * 4), Micro(MICRO)];
const MAX_THRESHOLDS: usize = 10;
/// The largest cap: the last amount of 64 bits of millionths that a JSON number says exactly.
const MOST: Micro = Micro(9_223_372_036_854_775_000);

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let caller = &call.caller;
        let store = &call.gateway.store;
        let caps = budget::caps(store, &caller.organization_id, caller.mode).await;
        let caps = caps.map_err(|error| store_fault(&error))?;
        let sums = sums(&call).await?;
        Ok(Reply::of(record(&caps, sums, &call)))
    })
}

pub(crate) fn update(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        let mut cap = |key| cap(&mut fields, &call.sent, key, &mut problems);
        let credits = cap("monthly_credit_cap");
        let spend = cap("monthly_spend_cap_usd");
        let thresholds = thresholds(&mut fields, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let sums = sums(&call).await?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let caller = &call.caller;
                let organization = &caller.organization_id;
                let before = budget::lock_caps(&mut tx, organization, caller.mode).await?;
                let user = caller.delegating_user.as_ref();
                let after = Caps {
                    credits: merged(before.credits, credits),
                    spend_usd: merged(before.spend_usd, spend),
                    alert_thresholds: thresholds.unwrap_or_else(|| before.alert_thresholds.clone()),
                    updated_by: user.map(|user| user.id.clone()),
                    updated_at: Some(call.now),
                };
                budget::put_caps(&mut tx, organization, caller.mode, &after, call.now).await?;
                let mut effect = Effect::new(
                    "updated",
                    "budget",
                    organization,
                    record(&after, sums, &call),
                );
                effect.outdated.budget = true;
                Ok(effect
                    .detail("before", numbers(&before))
                    .detail("after", numbers(&after)))
            })
        }))
    })
}

async fn sums(call: &Call) -> Result<Sums, Fault> {
    let caller = &call.caller;
    let (start, _) = call.now.cycle(caller.cycle_anchor_day);
    let store = &call.gateway.store;
    let sums = budget::sums(store, &caller.organization_id, caller.mode, start).await;
    sums.map_err(|error| store_fault(&error))
}

fn merged(before: Option<Micro>, given: Given<Micro>) -> Option<Micro> {
    match given {
        Given::Absent => before,
        Given::Null => None,
        Given::Value(cap) => Some(cap),
    }
}

/// A number of at least zero with at most six decimals, or null for none. It is kept and shown to the last digit, or
/// refused.
fn cap(fields: &mut Fields, sent: &[u8], key: &str, problems: &mut Problems) -> Given<Micro> {
    let (amount, is_large) = match fields.take_or_null(key) {
        None => return Given::Absent,
        Some(Value::Null) => return Given::Null,
        Some(Value::Number(number)) => {
            let text = number_text(sent, key);
            let amount = text.and_then(|text| Micro::parse_number(&text));
            let (size, most) = (number.as_f64(), MOST.to_json().as_f64());
            let is_large = size >= most && amount.is_none_or(|amount| amount > MOST);
            (amount, is_large)
        }
        Some(_) => (None, false),
    };
    let problem = match amount.filter(|amount| amount.0 >= 0) {
        _ if is_large => format!("must be at most {MOST}"),
        None => "must be a number of at least 0 with at most 6 decimals, or null".to_owned(),
        Some(amount) if !amount.is_exact_in_json() => {
            "must have fewer decimals: a number of this size does not keep them".to_owned()
        }
        Some(amount) => return Given::Value(amount),
    };
    problems.add(fields.path_to(key), problem);
    Given::Absent
}

/// Shares of a cap above 0, at most 1, rising; null goes back to the default.
fn thresholds(fields: &mut Fields, problems: &mut Problems) -> Option<Vec<Micro>> {
    let key = "alert_thresholds";
    let items = match fields.take_or_null(key)? {
        Value::Null => return Some(Vec::new()),
        Value::Array(items) if (1..=MAX_THRESHOLDS).contains(&items.len()) => items,
        _ => {
            let problem = format!(
                "must be an array of 1 to {MAX_THRESHOLDS} numbers, or null for the default"
            );
            problems.add(key, problem);
            return None;
        }
    };
    let mut shares: Vec<Micro> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let share = item.as_number().map(ToString::to_string);
        let share = share.and_then(|share| Micro::parse_number(&share));
        let share = share.filter(|share| (1..=MICRO).contains(&share.0));
        match share {
            Some(share) if shares.last().is_none_or(|last| *last < share) => shares.push(share),
            Some(_) => problems.add(
                format!("{key}[{at}]"),
                "must be greater than the one before",
            ),
            None => problems.add(
                format!("{key}[{at}]"),
                "must be a number above 0, at most 1",
            ),
        }
    }
    Some(shares)
}

fn numbers(caps: &Caps) -> Value {
    let amount = |amount: Option<Micro>| amount.map_or(Value::Null, Micro::to_json);
    json!({
        "monthly_credit_cap": amount(caps.credits),
        "monthly_spend_cap_usd": amount(caps.spend_usd),
        "alert_thresholds": shares(caps),
    })
}

fn shares(caps: &Caps) -> Value {
    let shares = if caps.alert_thresholds.is_empty() {
        &DEFAULT_THRESHOLDS[..]
    } else {
        &caps.alert_thresholds
    };
    shares.iter().map(|share| share.to_json()).collect()
}

/// The budget as contract 12.4 shows it.
fn record(caps: &Caps, sums: Sums, call: &Call) -> Value {
    let (cycle_start, cycle_end) = call.now.cycle(call.caller.cycle_anchor_day);
    let amount = |amount: Option<Micro>| amount.map_or(Value::Null, Micro::to_json);
    json!({
        "object": "budget",
        "monthly_credit_cap": amount(caps.credits),
        "monthly_spend_cap_usd": amount(caps.spend_usd),
        "current_credits": sums.used_credits.to_json(),
        "current_spend_usd": sums.used_spend_usd.to_json(),
        "alert_thresholds": shares(caps),
        "cycle_start": cycle_start.to_string(),
        "cycle_reset_at": cycle_end.to_string(),
        "updated_by": caps.updated_by,
        "updated_at": shown(caps.updated_at),
    })
}
