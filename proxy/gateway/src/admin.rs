//! `svc-gateway admin`: organizations and keys from the command line. Works on the store alone, so it works
//! while the gateway runs.

mod agreement;
mod erasure;
mod keys;
mod phi_list;
mod plan;
mod user;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use svc_core::money::Micro;
use svc_core::plan::Tier;
use svc_core::scope::Scope;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_pipeline::policy::PolicySet;
use svc_pipeline::policy::models::Access;
use svc_pipeline::{feature, moment, recomputation};
use svc_store::audit::{Row, Target};
use svc_store::baa::Template;
use svc_store::bootstrap::{self, Bootstrapped};
use svc_store::organization::PhiMode;
use svc_store::{Store, StoreError, organization};
use tokio::runtime::Handle;

use crate::configuration::Configuration;
use crate::wiring;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Create an organization with an owner, a Business Associate Agreement and an API key.
    Bootstrap(Bootstrap),
    /// Compare the sums of every billing cycle with the ledger, and repair what differs. Fails where anything did.
    RecomputeUsage,
    /// Values that an organization always or never takes out of its texts.
    #[command(subcommand)]
    PhiList(phi_list::Command),
    /// Print the public key of the audit log, for `audit verify --key` and for witnesses.
    AuditKey,
    TerminateBaa(agreement::Terminate),
    EraseEndUser(erasure::EndUser),
    EraseOrganization(erasure::Organization),
    SetPlan(plan::Set),
    /// Wrap every key that an older master key has wrapped with the newest one of the key file.
    RotateMasterKey,
    RotateOrganizationKey(keys::RotateOrganization),
    CreateUser(user::Create),
    ResetPassword(user::Reset),
}

#[derive(clap::Args)]
pub(crate) struct Bootstrap {
    /// Print `{"organization_id","slug","user_id","api_key_id","api_key","invitation_url"}`.
    #[arg(long)]
    json: bool,
    /// Address that the owner signs in with; a made-up one when absent.
    #[arg(long)]
    email: Option<String>,
    #[arg(long, default_value = "Example Clinic")]
    name: String,
    #[arg(long, value_enum, default_value_t = Phi::Redact)]
    phi_mode: Phi,
    /// Leave the organization without an agreement: inference answers BAA_REQUIRED.
    #[arg(long)]
    no_baa: bool,
    /// Models that are enabled: the standard ones, or all of the catalog.
    #[arg(long, value_enum, default_value_t = Models::All)]
    models: Models,
    /// The plan's tier.
    #[arg(long, default_value_t = PLAN_TIER, value_parser = plan::parser())]
    plan: Tier,
    /// Days until an evaluation ends; 30 when absent.
    #[arg(long, value_name = "N")]
    evaluation_days: Option<u16>,
    /// Features that are switched on, by comma, such as `integrations`.
    #[arg(long, value_delimiter = ',')]
    features: Vec<String>,
    /// Scopes of the key, by comma; every scope when absent.
    #[arg(long, value_delimiter = ',')]
    scopes: Vec<String>,
    /// Requests per minute, of the key and of the organization.
    #[arg(long)]
    per_minute: Option<u32>,
    /// Credits per cycle in place of the plan's.
    #[arg(long)]
    credits: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Phi {
    Redact,
    Block,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Models {
    Standard,
    All,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self {
            json: false,
            email: None,
            name: "Example Clinic".into(),
            phi_mode: Phi::Redact,
            no_baa: false,
            models: Models::All,
            plan: PLAN_TIER,
            evaluation_days: None,
            features: Vec::new(),
            scopes: Vec::new(),
            per_minute: None,
            credits: None,
        }
    }
}

/// Prints `{"cycles","drifts":[{"org_id","mode","cycle_start","kept","recomputed"}]}`.
async fn recompute_usage(store: &Store) -> anyhow::Result<ExitCode> {
    let report = recomputation::recompute(store, Timestamp(i64::MIN)).await;
    let report = report.context("recomputing usage")?;
    let drifts: Vec<_> = report
        .drifts
        .iter()
        .map(|(cycle, drift)| {
            json!({
                "org_id": cycle.org_id,
                "mode": cycle.mode.word(),
                "cycle_start": cycle.start.to_string(),
                "kept": recomputation::shown(drift.kept),
                "recomputed": recomputation::shown(drift.recomputed),
            })
        })
        .collect();
    let is_exact = drifts.is_empty();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}",
        json!({"cycles": report.cycles, "drifts": drifts})
    )?;
    out.flush()?;
    if report.failed > 0 {
        anyhow::bail!("{} cycles could not be recomputed", report.failed);
    }
    Ok(if is_exact {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// # Errors
/// A store that cannot be opened, or an option that is not valid.
pub(crate) async fn run(
    configuration: &Configuration,
    command: Command,
) -> anyhow::Result<ExitCode> {
    let store = match command {
        Command::Bootstrap(_) => first_store(configuration).await?,
        _ => wiring::existing_store(configuration, &Handle::current()).await?,
    };
    let done = run_on(configuration, &store, command).await;
    store.close().await;
    done
}

/// The store for the first organization, which may be before the first gateway. Whoever has one elsewhere is told that
/// this is another.
async fn first_store(configuration: &Configuration) -> anyhow::Result<Store> {
    let made = wiring::would_make(configuration)?;
    let store = wiring::store(configuration, &Handle::current()).await?;
    if let Some(made) = made {
        let mut told = std::io::stderr().lock();
        writeln!(
            told,
            "made a new store, {}: a gateway with another working folder, configuration or environment does not know it",
            made.display()
        )?;
        let key = configuration.server.data_dir.join("master.key");
        if key.exists() {
            writeln!(
                told,
                "its master key is {}: back it up apart from the database",
                std::path::absolute(&key).unwrap_or(key).display()
            )?;
        }
    }
    Ok(store)
}

async fn run_on(
    configuration: &Configuration,
    store: &Store,
    command: Command,
) -> anyhow::Result<ExitCode> {
    match command {
        Command::Bootstrap(options) => {
            let created = bootstrap(configuration, store, &options).await?;
            show(&created, &options)
        }
        Command::RecomputeUsage => recompute_usage(store).await,
        Command::PhiList(command) => phi_list::run(store, command).await,
        Command::AuditKey => audit_key(store).await,
        Command::TerminateBaa(options) => agreement::terminate(store, options).await,
        Command::EraseEndUser(options) => erasure::end_user(store, options).await,
        Command::EraseOrganization(options) => erasure::organization(store, options).await,
        Command::SetPlan(options) => plan::set(store, options).await,
        Command::RotateMasterKey => keys::rotate_master(store).await,
        Command::RotateOrganizationKey(options) => keys::rotate_organization(store, options).await,
        Command::CreateUser(options) => user::create(configuration, store, options).await,
        Command::ResetPassword(options) => user::reset(configuration, store, options).await,
    }
}

fn show(created: &Created, options: &Bootstrap) -> anyhow::Result<ExitCode> {
    let Created {
        made,
        invitation_url,
    } = created;
    let mut out = std::io::stdout().lock();
    if options.json {
        let shown = json!({
            "organization_id": made.organization_id,
            "slug": made.slug,
            "user_id": made.user_id,
            "api_key_id": made.api_key_id,
            "api_key": made.api_key,
            "invitation_url": invitation_url,
        });
        writeln!(out, "{shown}")?;
    } else {
        writeln!(out, "organization  {}", made.organization_id)?;
        writeln!(out, "slug          {}", made.slug)?;
        writeln!(out, "owner         {}", made.user_id)?;
        writeln!(out, "API key       {} (shown once)", made.api_key)?;
        writeln!(out, "invitation    {invitation_url}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The verifier key; none is made here, so that the first gateway of a deployment names the log.
async fn audit_key(store: &Store) -> anyhow::Result<ExitCode> {
    let verifier = svc_store::audit_key::verifier(store).await;
    let verifier = verifier.context("reading the audit key")?;
    let verifier = verifier.context("the audit log has no key yet: start the gateway once")?;
    writeln!(std::io::stdout().lock(), "{verifier}")?;
    Ok(ExitCode::SUCCESS)
}

/// Contract 8's example, below every model's own limit.
const PER_REQUEST_MAX_TOKENS: u32 = 8_192;

/// The tier of an organization made from the command line, where none is named.
const PLAN_TIER: Tier = Tier::Standard;

/// A new organization, and the link by which its owner sets a password for the dashboard.
pub(crate) struct Created {
    pub(crate) made: Bootstrapped,
    pub(crate) invitation_url: String,
}

/// Creates the organization.
///
/// # Errors
/// An option that is not valid, or a store that does not take it. Nothing is created then, unless the error names an
/// organization: it stands, and nobody has seen its key.
pub(crate) async fn bootstrap(
    configuration: &Configuration,
    store: &Store,
    options: &Bootstrap,
) -> anyhow::Result<Created> {
    let now = moment::now();
    let name = user::name(&options.name)?;
    let policies = match options.models {
        Models::Standard if options.no_baa && options.features.is_empty() => None,
        _ => Some(policies(configuration)?),
    };
    let features = match &policies {
        Some(policies) => features(&options.features, policies)?,
        None => BTreeMap::new(),
    };
    let template = match &policies {
        Some(policies) if !options.no_baa => {
            let mut templates = policies.agreements.iter().rev();
            let current = templates.find(|template| template.published_at <= now);
            Some(
                current
                    .cloned()
                    .context("policies/baa has no agreement in force; see --no-baa")?,
            )
        }
        _ => None,
    };
    let request = bootstrap::Bootstrap {
        name: name.clone(),
        plan_tier: options.plan,
        evaluation_ends_at: plan::end(options.plan, options.evaluation_days, now)?,
        phi_mode: match options.phi_mode {
            Phi::Redact => PhiMode::Redact,
            Phi::Block => PhiMode::Block,
        },
        premium_models: match options.models {
            Models::Standard => Vec::new(),
            Models::All => policies.map(premium_models).unwrap_or_default(),
        },
        features,
        per_request_max_tokens: PER_REQUEST_MAX_TOKENS,
        mode: Mode::Live,
        scopes: scopes(&options.scopes)?,
        per_minute: options.per_minute,
        monthly_credits: options.credits.as_deref().map(credits).transpose()?,
        baa: None,
        owner_email: options.email.as_deref().map(user::email).transpose()?,
        now,
    };
    wiring::right_master_key(store).await?;
    if let Some(template) = &template {
        agreement::publish(store, template, now).await?;
    }
    let created = match bootstrap::bootstrap(store, &request).await {
        Err(StoreError::Exists { .. }) => bail!("somebody has this address already"),
        created => created.context("creating the organization")?,
    };
    let invited = equip(configuration, store, &created, &name, template).await;
    let invitation_url = invited.with_context(|| {
        let org_id = &created.organization_id;
        format!("organization {org_id} is there, but not ready for use; erase it and try again")
    })?;
    Ok(Created {
        invitation_url,
        made: created,
    })
}

/// Gives a new organization its agreement, and its owner an invitation.
async fn equip(
    configuration: &Configuration,
    store: &Store,
    created: &Bootstrapped,
    name: &str,
    template: Option<Template>,
) -> anyhow::Result<String> {
    if let Some(template) = template {
        agreement::accept(store, created, name, template, moment::now()).await?;
    }
    let owner = svc_store::user::find(store, &created.organization_id, &created.user_id).await;
    let owner = owner.context("reading the owner")?;
    let owner = owner.context("the owner is gone")?;
    user::invite(configuration, store, &owner).await
}

pub(crate) fn policies(configuration: &Configuration) -> anyhow::Result<PolicySet> {
    match PolicySet::load(&configuration.policies_folder()?, &configuration.known()) {
        Ok(set) => Ok(set),
        Err(problems) => bail!(
            "{}",
            problems
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        ),
    }
}

fn premium_models(set: PolicySet) -> Vec<String> {
    let premium = set
        .catalogue
        .models
        .into_iter()
        .filter(|model| model.access == Access::Premium);
    premium.map(|model| model.id).collect()
}

fn features(names: &[String], policies: &PolicySet) -> anyhow::Result<BTreeMap<String, bool>> {
    let known = feature::known(&policies.catalogue);
    for name in names {
        if !known.contains(name.as_str()) {
            let known: Vec<&str> = known.into_iter().collect();
            bail!("unknown feature {name}; known are {}", known.join(", "));
        }
    }
    Ok(names.iter().map(|name| (name.clone(), true)).collect())
}

fn scopes(words: &[String]) -> anyhow::Result<Vec<String>> {
    if words.is_empty() {
        return Ok(Scope::ALL
            .iter()
            .map(|scope| scope.word().to_owned())
            .collect());
    }
    for word in words {
        if Scope::parse(word).is_none() {
            let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.word()).collect();
            bail!("unknown scope {word}; known are {}", known.join(", "));
        }
    }
    Ok(words.to_vec())
}

fn credits(text: &str) -> anyhow::Result<Micro> {
    Micro::parse(text)
        .filter(|credits| credits.0 >= 0)
        .context("--credits is not a decimal with at most six digits after the point, or too large")
}

/// Refuses an id that no organization has, and one whose organization was erased: nothing begins anew there.
async fn known(store: &Store, organization: &str) -> anyhow::Result<()> {
    let found = organization::find(store, organization).await;
    if found.context("reading the organization")?.is_none() {
        bail!("there is no organization {organization}");
    }
    let is_erased = svc_store::erasure::is_erased(store, organization).await;
    if is_erased.context("reading the organization")? {
        bail!("{organization} was erased");
    }
    Ok(())
}

/// The audit row of what a command has done to an organization, or to the whole deployment.
fn system_row(org_id: Option<&str>, event: &str, details: Map<String, Value>) -> Row {
    let target = org_id.map(|id| Target {
        kind: "organization".to_owned(),
        id: id.to_owned(),
    });
    // What concerns the whole organization stands in its live log.
    let owner = org_id.map(|id| (id.to_owned(), Mode::Live));
    Row::of_system(event, owner, target, details, moment::now())
}
