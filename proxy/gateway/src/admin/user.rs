//! `svc-gateway admin create-user` and `reset-password`: people of an organization, and links by which they set a
//! password. No password is ever typed here.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use svc_core::id::IdKind;
use svc_dashboard::link::NewLink;
use svc_pipeline::moment;
use svc_store::audit::{self, Row, Target};
use svc_store::link::Purpose;
use svc_store::user::{self, Role, User};
use svc_store::{Store, StoreError, Transaction, TransactionError, second_factor};

use super::{known, system_row};
use crate::configuration::Configuration;

/// Adds somebody to an organization and prints a link by which they set their password.
#[derive(clap::Args)]
pub(crate) struct Create {
    /// Print `{"user_id","invitation_url","expires_at"}`.
    #[arg(long)]
    json: bool,
    #[arg(long)]
    email: String,
    /// As it is shown; the address when absent.
    #[arg(long)]
    name: Option<String>,
    #[arg(long, value_parser = ["owner", "admin", "compliance", "member", "viewer"])]
    role: String,
    /// Id of the organization.
    #[arg(long)]
    organization: String,
}

/// Prints a link by which somebody sets another password; the old one works until then.
#[derive(clap::Args)]
pub(crate) struct Reset {
    /// Print `{"user_id","reset_url","expires_at"}`.
    #[arg(long)]
    json: bool,
    #[arg(long)]
    email: String,
    /// Also take their authenticator app and recovery codes away: both are lost.
    #[arg(long)]
    remove_totp: bool,
}

/// Longest name of a person or an organization, in characters (contract 1.2).
const MAX_NAME_CHARS: usize = 100;

/// An address of `--email`.
pub(super) fn email(text: &str) -> anyhow::Result<String> {
    let plain = user::plain_email(text);
    if !user::is_email(&plain) {
        bail!("--email is not an address");
    }
    Ok(plain)
}

/// A name of `--name`.
pub(super) fn name(text: &str) -> anyhow::Result<String> {
    let name = text.trim();
    if !(1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
        bail!("--name must have 1 to {MAX_NAME_CHARS} characters");
    }
    Ok(name.to_owned())
}

/// # Errors
/// An unknown organization, an address that is taken, or a store that does not take it.
pub(super) async fn create(
    configuration: &Configuration,
    store: &Store,
    options: Create,
) -> anyhow::Result<ExitCode> {
    let Create {
        json,
        email,
        name,
        role,
        organization,
    } = options;
    known(store, &organization).await?;
    let email = self::email(&email)?;
    let name = match name {
        Some(name) => self::name(&name)?,
        None => email.clone(),
    };
    let now = moment::now();
    let user = User {
        id: moment::id(IdKind::User),
        org_id: organization,
        email,
        name,
        role: Role::parse(&role).context("--role is not a role")?,
        suspended: false,
        mfa_enabled: false,
        created_at: now,
        last_login_at: None,
    };
    let link = NewLink::new(
        &configuration.base_url(),
        &user,
        Purpose::Invitation,
        None,
        now,
    );
    let (url, expires_at) = (link.url.clone(), link.expires_at());
    let row = row(&user, "user.created", "role", role.into());
    let id = user.id.clone();
    let added = store.transaction(move |mut tx| {
        Box::pin(async move {
            user::add(&mut tx, &user).await?;
            link.issue(&mut tx).await?;
            audit::record(&mut tx, &row).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    match added.await {
        Ok(()) => {}
        Err(TransactionError::Store(StoreError::Exists { .. })) => {
            bail!("somebody has this address already")
        }
        Err(TransactionError::Store(error)) => return Err(error).context("adding the user"),
        Err(TransactionError::Refused(())) => bail!("adding the user was given up"),
    }
    let mut out = std::io::stdout().lock();
    if json {
        let shown =
            json!({"user_id": id, "invitation_url": url, "expires_at": expires_at.to_string()});
        writeln!(out, "{shown}")?;
    } else {
        writeln!(out, "user        {id}")?;
        writeln!(out, "invitation  {url} (once, until {expires_at})")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// # Errors
/// An unknown address, or a store that does not take it.
pub(super) async fn reset(
    configuration: &Configuration,
    store: &Store,
    options: Reset,
) -> anyhow::Result<ExitCode> {
    let Reset {
        json,
        email,
        remove_totp,
    } = options;
    let found = svc_store::password::find(store, &email).await;
    let Some((user, _)) = found.context("reading the user")? else {
        bail!("nobody has this address");
    };
    if user.suspended {
        bail!("this user is suspended: nobody can use a link until they are reinstated");
    }
    let now = moment::now();
    let link = NewLink::new(&configuration.base_url(), &user, Purpose::Reset, None, now);
    let (id, url, expires_at) = (user.id.clone(), link.url.clone(), link.expires_at());
    let row = row(
        &user,
        "user.password_reset_issued",
        "second_factor_removed",
        remove_totp.into(),
    );
    let issued = store.transaction(move |mut tx| {
        Box::pin(async move {
            link.issue(&mut tx).await?;
            if remove_totp {
                second_factor::remove(&mut tx, &user.id).await?;
            }
            audit::record(&mut tx, &row).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done(issued.await).context("issuing the link")?;
    let mut out = std::io::stdout().lock();
    if json {
        let shown = json!({"user_id": id, "reset_url": url, "expires_at": expires_at.to_string()});
        writeln!(out, "{shown}")?;
    } else {
        writeln!(out, "user   {id}")?;
        writeln!(out, "reset  {url} (once, until {expires_at})")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The invitation of somebody who exists.
///
/// # Errors
/// A store that does not take it.
pub(super) async fn invite(
    configuration: &Configuration,
    store: &Store,
    user: &User,
) -> anyhow::Result<String> {
    let base_url = configuration.base_url();
    let link = NewLink::new(&base_url, user, Purpose::Invitation, None, moment::now());
    let url = link.url.clone();
    let row = row(user, "user.invited", "role", user.role.word().into());
    let issued =
        store.transaction(move |mut tx| Box::pin(async move { issue(&mut tx, &link, &row).await }));
    done(issued.await).context("issuing the invitation")?;
    Ok(url)
}

async fn issue(
    tx: &mut Transaction<'_>,
    link: &NewLink,
    row: &Row,
) -> Result<(), TransactionError<()>> {
    link.issue(tx).await?;
    audit::record(tx, row).await?;
    Ok(())
}

fn done(result: Result<(), TransactionError<()>>) -> anyhow::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(TransactionError::Store(error)) => Err(error.into()),
        Err(TransactionError::Refused(())) => bail!("it was given up"),
    }
}

fn row(user: &User, event: &str, key: &str, value: Value) -> Row {
    let mut details = Map::new();
    details.insert(key.to_owned(), value);
    Row {
        target: Some(Target {
            kind: "user".to_owned(),
            id: user.id.clone(),
        }),
        ..system_row(Some(&user.org_id), event, details)
    }
}
