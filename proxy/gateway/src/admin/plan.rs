//! `svc-gateway admin set-plan`: what the operator has agreed with an organization.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value, json};
use svc_core::plan::Tier;
use svc_core::time::{MS_PER_DAY, Timestamp};
use svc_pipeline::moment;
use svc_store::organization::{self, Plan};
use svc_store::{Store, StoreError};

use super::{credits, known, system_row};

/// Gives an organization another plan; what is not named is the tier's. A running gateway knows it within two seconds.
#[derive(clap::Args)]
pub(crate) struct Set {
    #[arg(long, value_name = "ID")]
    organization: String,
    #[arg(long, value_parser = parser())]
    tier: Tier,
    /// Days until an evaluation ends.
    #[arg(long, value_name = "N")]
    evaluation_days: Option<u16>,
    /// Credits per cycle in place of the plan's.
    #[arg(long)]
    credits: Option<String>,
    /// Requests per minute of the organization.
    #[arg(long)]
    per_minute: Option<u32>,
    /// Requests per day of the organization.
    #[arg(long)]
    per_day: Option<u32>,
}

/// Reads a tier off the command line.
pub(super) fn parser() -> impl TypedValueParser<Value = Tier> {
    PossibleValuesParser::new(Tier::ALL.map(Tier::word))
        .try_map(|word| Tier::parse(&word).ok_or("not a tier"))
}

/// An evaluation lasts so long where nobody says otherwise.
const EVALUATION_DAYS: u16 = 30;

/// When a plan of this tier ends.
///
/// # Errors
/// Days for a tier that does not end.
pub(super) fn end(
    tier: Tier,
    evaluation_days: Option<u16>,
    now: Timestamp,
) -> anyhow::Result<Option<Timestamp>> {
    match (tier, evaluation_days) {
        (Tier::Evaluation, days) => {
            let days = days.unwrap_or(EVALUATION_DAYS);
            Ok(Some(now.plus_ms(i64::from(days) * MS_PER_DAY)))
        }
        (_, Some(_)) => bail!("--evaluation-days is for the tier {}", Tier::Evaluation),
        (_, None) => Ok(None),
    }
}

/// # Errors
/// An option that is not valid, an unknown organization, or a store that does not take it.
pub(super) async fn set(store: &Store, options: Set) -> anyhow::Result<ExitCode> {
    let Set {
        organization: org_id,
        tier,
        evaluation_days,
        credits: amount,
        per_minute,
        per_day,
    } = options;
    let now = moment::now();
    let plan = Plan {
        evaluation_ends_at: end(tier, evaluation_days, now)?,
        tier,
        monthly_credits: amount.as_deref().map(credits).transpose()?,
        per_minute,
        per_day,
    };
    known(store, &org_id).await?;
    let found = organization::find(store, &org_id).await;
    let Some(before) = found.context("reading the organization")? else {
        bail!("there is no organization {org_id}");
    };
    let mut details = Map::new();
    details.insert("old".to_owned(), shown(&before.plan));
    details.insert("new".to_owned(), shown(&plan));
    let row = system_row(Some(&org_id), "organization.plan_set", details);
    match organization::save_plan(store, &org_id, &plan, &row, now).await {
        Ok(()) => writeln!(std::io::stdout().lock(), "{}", shown(&plan))?,
        Err(StoreError::Missing(_)) => bail!("there is no organization {org_id}"),
        Err(error) => return Err(error).context("changing the plan"),
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(plan: &Plan) -> Value {
    let Plan {
        tier,
        monthly_credits,
        evaluation_ends_at,
        per_minute,
        per_day,
    } = plan;
    json!({
        "tier": tier.word(),
        "monthly_credits": monthly_credits.map(svc_core::money::Micro::to_json),
        "evaluation_ends_at": evaluation_ends_at.map(|end| end.to_string()),
        "per_minute": per_minute,
        "per_day": per_day,
    })
}
