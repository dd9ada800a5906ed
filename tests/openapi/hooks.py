"""Values that obey rules between fields, or rules of the clock, which no schema can say.

Only what must be accepted is touched: what is wrong on purpose stays as it is.
"""

import datetime

import schemathesis

MODELS = ("alpha-sonnet-4-6", "alpha-haiku-4-5")
PREMIUM_MODELS = ("alpha-opus-4-6", "beta-5.5")
# Of amounts and shares.
DECIMALS = 6


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if isinstance(case.query, dict):
        fit_query(case.query)
    if isinstance(case.body, dict):
        fit_body(case.body)


def fit_query(query: dict) -> None:
    # A cursor comes out of a list (tests/suite/control/keys.rs follows them).
    query.pop("cursor", None)
    if "from" in query and "to" in query:
        query["from"], query["to"] = sorted((query["from"], query["to"]))
    elif case_of_one_end := query.keys() & {"from", "to"}:
        # The other end is the current cycle's.
        for name in case_of_one_end:
            del query[name]


def fit_body(body: dict) -> None:
    if body.get("expires_at"):
        soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=30)
        body["expires_at"] = soon.isoformat()
    if isinstance(body.get("rate_limits"), dict):
        # Not above the caller's own.
        body["rate_limits"] = {name: limit and 1 for name, limit in body["rate_limits"].items()}
    # At most six decimals: `multipleOf` would make validators that reckon in binary refuse 0.8.
    for name in ("monthly_credit_cap", "monthly_spend_cap_usd"):
        if isinstance(body.get(name), float):
            body[name] = round(body[name], DECIMALS)
    if isinstance(body.get("alert_thresholds"), list):
        body["alert_thresholds"] = sorted({round(share, DECIMALS) for share in body["alert_thresholds"]})
    for name, models in (("allowed_models", MODELS), ("premium_models_enabled", PREMIUM_MODELS)):
        if isinstance(body.get(name), list):
            body[name] = list(models)
    if body.get("default_model"):
        body["default_model"] = MODELS[0]
    # Public, and one that a header can carry.
    if "base_url" in body:
        body["base_url"] = "https://ehr.example.org/api"
    if "secret" in body:
        body["secret"] = "a secret of the bridge"
    if isinstance(body.get("auth"), dict):
        body["auth"] |= {name: "X-Api-Key" for name in ("username", "header_name") if name in body["auth"]}
    if "project_id" in body:
        body["project_id"] = "default"
    if body.get("allowed_paths"):
        body["allowed_paths"] = ["/fhir/*"]
    # Addresses that lead to an application, whose mode is the key's.
    if "redirect_uris" in body:
        body["redirect_uris"] = ["https://carenav.example/cb"]
        body.pop("mode", None)
    if body.get("homepage_url"):
        body["homepage_url"] = "https://carenav.example"
    # Nobody's agent is another one's parent.
    body.pop("parent_agent_id", None)
    if isinstance(body.get("scope_grants"), list):
        # Each scope once.
        body["scope_grants"] = list({grant["scope"]: grant for grant in body["scope_grants"]}.values())
        for grant in body["scope_grants"]:
            constraints = grant.get("constraints")
            if isinstance(constraints, dict) and constraints.get("models"):
                constraints["models"] = list(MODELS)
    # Only an app that there is can be named.
    body.pop("app_id", None)
    # Public, as above; and `*` stands alone, each name once.
    if "url" in body:
        body["url"] = "https://hooks.example.org/in"
    if isinstance(body.get("events"), list):
        body["events"] = ["*"] if "*" in body["events"] else list(dict.fromkeys(body["events"]))
