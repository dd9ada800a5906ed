//! `phi.toml`: detectors, and what happens to each kind of finding under which profile.
//!
//! A profile is a named set of rules over the base ones. The file says which one holds, and for which organizations
//! another does: that is the operator's to say, since the contract gives organizations no say beyond `phi_mode`.

use std::collections::BTreeMap;

use serde::Deserialize;
use svc_core::id::IdKind;
use svc_core::phi::{ENTITY_KINDS, Kind, NARROWER_KINDS};
use toml::Spanned;

use super::{Findings, Source};

/// Confidence is counted per mille.
const MAX_THRESHOLD: u16 = 1000;

/// Per mille. What stands behind its own label (`SSN: …`) has 900 from the shipped detectors: a threshold above that
/// drops it.
const MAX_SAFE_THRESHOLD: u16 = 900;

/// What may stay in text that cannot be rewritten, of the kinds that are ours: places, organizations and dates, of which
/// an example identifies nobody. A tool's definition that holds another is always refused (spec, PHI Guard modes).
const IMPERSONAL_KINDS: [&str; 3] = ["LOCATION", "ORGANIZATION", "DATE"];

/// The profile of a file that names none: every kind is dealt with as the base rules say.
pub const SAFE_HARBOR: &str = "safe-harbor";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    detectors: Vec<String>,
    /// Kinds beside ours that detectors of others find.
    #[serde(default)]
    further_kinds: Vec<Spanned<String>>,
    /// Kinds that may stand in text that cannot be rewritten: definitions of tools, addresses of media.
    #[serde(default)]
    fixed_text_may_hold: Vec<Spanned<String>>,
    /// Kinds that a model may state by itself.
    #[serde(default)]
    replies_may_hold: Vec<Spanned<String>>,
    /// The profile in force.
    profile: Option<Spanned<String>>,
    defaults: Rule,
    #[serde(default)]
    kinds: Kinds,
    #[serde(default)]
    profiles: BTreeMap<Spanned<String>, ProfileEntry>,
    /// Profiles of organizations that have another than the one in force, by id.
    #[serde(default)]
    organizations: BTreeMap<Spanned<String>, Spanned<String>>,
}

type Kinds = BTreeMap<Spanned<String>, PartialRule>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileEntry {
    #[serde(default)]
    kinds: Kinds,
}

/// What holds for findings of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub action: Action,
    /// Per mille: findings of lower confidence are dropped.
    pub threshold: u16,
}

impl Rule {
    /// Whether it leaves what detectors find: by its action, or because hardly any finding is so sure.
    fn leaves(&self) -> bool {
        // What is no threshold is told by itself.
        let drops_all = self.threshold > MAX_SAFE_THRESHOLD && self.threshold <= MAX_THRESHOLD;
        self.action == Action::Allow || drops_all
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartialRule {
    action: Option<Action>,
    threshold: Option<u16>,
}

/// What becomes of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The organization's `phi_mode` decides.
    Redact,
    /// Refuse the request whatever the mode.
    Block,
    /// Leave the text.
    Allow,
}

/// The detectors and rules of `phi.toml`.
pub struct PhiPolicy {
    /// Ids of the detector plugins; all of them read every request.
    pub detectors: Vec<String>,
    /// Kinds beside ours that the file speaks of.
    pub further_kinds: Vec<String>,
    fixed_text_may_hold: Vec<String>,
    replies_may_hold: Vec<String>,
    defaults: Rule,
    profiles: Vec<Profile>,
    in_force: ProfileId,
    organizations: BTreeMap<String, ProfileId>,
}

/// A profile of the policy that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileId(usize);

struct Profile {
    name: String,
    /// Base rules and the profile's own; by wide and by narrower kind.
    kinds: BTreeMap<String, Rule>,
    /// Whether any rule is for a narrower kind.
    is_narrow: bool,
}

impl PhiPolicy {
    /// The profile that holds for an organization.
    pub fn profile_of(&self, org_id: &str) -> ProfileId {
        let own = self.organizations.get(org_id).copied();
        own.unwrap_or(self.in_force)
    }

    /// The profile of those who have none of their own.
    pub const fn profile_in_force(&self) -> ProfileId {
        self.in_force
    }

    /// The profile of this name, as the file has it.
    pub fn profile_named(&self, name: &str) -> Option<ProfileId> {
        let at = self.profiles.iter().position(|known| known.name == name);
        at.map(ProfileId)
    }

    /// The name of a profile of this policy; empty for another policy's.
    pub fn profile_name(&self, profile: ProfileId) -> &str {
        self.profile(profile).map_or("", |known| &known.name)
    }

    /// Names of all profiles, as the file has them.
    pub fn profile_names(&self) -> impl Iterator<Item = &str> {
        self.profiles.iter().map(|known| known.name.as_str())
    }

    /// What holds for a kind. `narrower` is asked only where the profile has rules for narrower kinds, and gives the
    /// one of the value at hand.
    pub fn rule(
        &self,
        profile: ProfileId,
        kind: &str,
        narrower: impl FnOnce() -> Option<&'static str>,
    ) -> Rule {
        let Some(profile) = self.profile(profile) else {
            return self.defaults;
        };
        let narrow = profile.is_narrow.then(narrower).flatten();
        let rule = narrow.and_then(|kind| profile.kinds.get(kind));
        let rule = rule.or_else(|| profile.kinds.get(kind));
        rule.copied().unwrap_or(self.defaults)
    }

    /// Whether a finding of this kind may stay in text that cannot be rewritten, or refuses the request.
    pub fn fixed_text_may_hold(&self, kind: &str) -> bool {
        self.fixed_text_may_hold.iter().any(|held| held == kind)
    }

    /// Whether a finding of this kind may stay in a reply, where nobody but the model has said it.
    pub fn replies_may_hold(&self, kind: &str) -> bool {
        self.replies_may_hold.iter().any(|held| held == kind)
    }

    /// What is wrong with the name of a kind that findings are to have.
    pub(crate) fn unknown_kind(&self, name: &str) -> Option<String> {
        wrong_finding(name, &self.further_kinds)
    }

    fn profile(&self, profile: ProfileId) -> Option<&Profile> {
        self.profiles.get(profile.0)
    }

    pub(crate) fn build(file: File, source: Source<'_>, findings: &mut Findings) -> Self {
        let File {
            detectors,
            further_kinds,
            fixed_text_may_hold,
            replies_may_hold,
            profile,
            defaults,
            kinds,
            profiles,
            organizations,
        } = file;
        if detectors.is_empty() {
            findings.add(source.file, "at least one detector is needed");
        }
        for (at, id) in detectors.iter().enumerate() {
            if detectors.iter().take(at).any(|before| before == id) {
                findings.add(source.file, format!("detectors: {id} stands twice"));
            }
        }
        if defaults.threshold > MAX_THRESHOLD {
            let message = format!("defaults: threshold is above {MAX_THRESHOLD}");
            findings.add(source.file, message);
        }
        let mut builder = Builder {
            defaults,
            source,
            further: own_kinds(further_kinds, source, findings),
            findings,
        };
        let fixed_text_may_hold = builder.held("fixed_text_may_hold", fixed_text_may_hold);
        let replies_may_hold = builder.held("replies_may_hold", replies_may_hold);
        let base = builder.rules(&kinds, &BTreeMap::new());
        let mut built: Vec<Profile> = profiles
            .iter()
            .map(|(name, entry)| builder.profile(name.get_ref(), entry, &base))
            .collect();
        if profile.is_none() && !built.iter().any(|known| known.name == SAFE_HARBOR) {
            built.push(builder.profile(
                SAFE_HARBOR,
                &ProfileEntry {
                    kinds: Kinds::new(),
                },
                &base,
            ));
        }
        let in_force = match &profile {
            Some(name) => builder.named(&built, name),
            None => position(&built, SAFE_HARBOR),
        };
        let organizations = builder.organizations(&built, &organizations);
        Self {
            detectors,
            further_kinds: builder.further,
            fixed_text_may_hold,
            replies_may_hold,
            defaults,
            profiles: built,
            in_force: in_force.unwrap_or(ProfileId(0)),
            organizations,
        }
    }
}

fn position(profiles: &[Profile], name: &str) -> Option<ProfileId> {
    let at = profiles.iter().position(|known| known.name == name);
    at.map(ProfileId)
}

/// Further kinds as detectors' findings will have them.
fn own_kinds(
    named: Vec<Spanned<String>>,
    source: Source<'_>,
    findings: &mut Findings,
) -> Vec<String> {
    let mut kinds = Vec::with_capacity(named.len());
    for name in named {
        let (start, name) = (name.span().start, name.into_inner());
        let kind = Kind::named(&name);
        if kind.entity().is_some() || kind.as_str() != name {
            let kind = kind.as_str();
            let message = match kind == name {
                true => format!("further_kinds: {name} is a kind already"),
                false => format!("further_kinds: findings of {name} count as {kind}"),
            };
            findings.add_at(source, start, message);
        }
        kinds.push(name);
    }
    kinds
}

/// What is wrong with the name of a kind that findings are to have, where `further` are known beside ours.
fn wrong_finding(name: &str, further: &[String]) -> Option<String> {
    match NARROWER_KINDS.iter().find(|(narrow, _)| *narrow == name) {
        Some((_, wide)) => Some(format!("findings of {name} are {wide}")),
        None => unknown(name, further),
    }
}

/// What is wrong with the name of a kind that may stay somewhere.
fn wrong_to_hold(name: &str, further: &[String]) -> Option<String> {
    let is_named = |known: &str| known == name;
    let may = IMPERSONAL_KINDS.iter().copied().any(is_named)
        || further.iter().map(String::as_str).any(is_named);
    if may {
        return None;
    }
    wrong_finding(name, further).or_else(|| {
        let ours = IMPERSONAL_KINDS.join(", ");
        Some(format!(
            "{name} identifies a person; of our kinds it may name {ours}"
        ))
    })
}

/// What is wrong with the name of a kind, where `further` are known beside ours.
fn unknown(name: &str, further: &[String]) -> Option<String> {
    let is_known = ENTITY_KINDS.iter().any(|known| known.name == name)
        || NARROWER_KINDS.iter().any(|(narrow, _)| *narrow == name)
        || further.iter().any(|known| known == name);
    if is_known {
        return None;
    }
    if let Some(known) = Kind::named(name).entity() {
        return Some(format!("kind {name} is called {} here", known.name));
    }
    let ours = ENTITY_KINDS.iter().map(|known| known.name);
    let narrow = NARROWER_KINDS.iter().map(|(narrow, _)| *narrow);
    let further = further.iter().map(String::as_str);
    let known: Vec<&str> = ours.chain(narrow).chain(further).collect();
    Some(format!(
        "unknown kind {name}; known are {}, and what further_kinds names",
        known.join(", ")
    ))
}

/// What the rules of a file are made with.
struct Builder<'b> {
    defaults: Rule,
    source: Source<'b>,
    further: Vec<String>,
    findings: &'b mut Findings,
}

impl Builder<'_> {
    /// Kinds that may stay somewhere, as `key` names them.
    fn held(&mut self, key: &str, named: Vec<Spanned<String>>) -> Vec<String> {
        let mut kinds = Vec::with_capacity(named.len());
        for name in named {
            let (start, name) = (name.span().start, name.into_inner());
            if let Some(message) = wrong_to_hold(&name, &self.further) {
                let message = format!("{key}: {message}");
                self.findings.add_at(self.source, start, message);
            }
            kinds.push(name);
        }
        kinds
    }

    /// Base rules with those of the profile over them.
    fn profile(
        &mut self,
        name: &str,
        entry: &ProfileEntry,
        base: &BTreeMap<String, Rule>,
    ) -> Profile {
        let mut kinds = base.clone();
        kinds.append(&mut self.rules(&entry.kinds, base));
        if name == SAFE_HARBOR {
            let by_default = ("what no rule names", &self.defaults);
            let ruled = kinds.iter().map(|(kind, rule)| (kind.as_str(), rule));
            for (kind, _) in ruled.chain([by_default]).filter(|(_, rule)| rule.leaves()) {
                let message = format!(
                    "profile {SAFE_HARBOR} leaves {kind} in the text; a profile that does needs another name"
                );
                self.findings.add(self.source.file, message);
            }
        }
        let is_narrow = NARROWER_KINDS
            .iter()
            .any(|(kind, _)| kinds.contains_key(*kind));
        Profile {
            name: name.to_owned(),
            kinds,
            is_narrow,
        }
    }

    /// Rules by kind; what an entry does not say is as in `base`, or by default.
    fn rules(&mut self, kinds: &Kinds, base: &BTreeMap<String, Rule>) -> BTreeMap<String, Rule> {
        let mut rules = BTreeMap::new();
        for (kind, entry) in kinds {
            let (start, kind) = (kind.span().start, kind.get_ref());
            if let Some(problem) = unknown(kind, &self.further) {
                self.findings.add_at(self.source, start, problem);
                continue;
            }
            let wide = NARROWER_KINDS.iter().find(|(narrow, _)| narrow == kind);
            let before = base
                .get(kind)
                .or_else(|| base.get(wide?.1))
                .unwrap_or(&self.defaults);
            let rule = Rule {
                action: entry.action.unwrap_or(before.action),
                threshold: entry.threshold.unwrap_or(before.threshold),
            };
            if rule.threshold > MAX_THRESHOLD {
                let message = format!("{kind}: threshold is above {MAX_THRESHOLD}");
                self.findings.add_at(self.source, start, message);
            }
            rules.insert(kind.clone(), rule);
        }
        rules
    }

    /// The profile that the file speaks of.
    fn named(&mut self, profiles: &[Profile], name: &Spanned<String>) -> Option<ProfileId> {
        let found = position(profiles, name.get_ref());
        if found.is_none() {
            let known: Vec<&str> = profiles.iter().map(|known| known.name.as_str()).collect();
            let message = format!(
                "unknown profile {}; known are {}",
                name.get_ref(),
                known.join(", ")
            );
            self.findings
                .add_at(self.source, name.span().start, message);
        }
        found
    }

    fn organizations(
        &mut self,
        profiles: &[Profile],
        entries: &BTreeMap<Spanned<String>, Spanned<String>>,
    ) -> BTreeMap<String, ProfileId> {
        let mut organizations = BTreeMap::new();
        for (org_id, name) in entries {
            let (start, org_id) = (org_id.span().start, org_id.get_ref());
            if IdKind::Organization.accept(org_id).as_deref() != Some(org_id) {
                let message = format!("{org_id} is no id of an organization");
                self.findings.add_at(self.source, start, message);
            }
            if let Some(profile) = self.named(profiles, name) {
                organizations.insert(org_id.clone(), profile);
            }
        }
        organizations
    }
}

#[cfg(test)]
mod tests;
