"""Authlib's client, unchanged: PKCE and every way of client authentication that the metadata names."""

import pytest
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.common.security import generate_token

from world import DETAILS, REDIRECT, Scene, chat, metadata

WAYS = [
    ("confidential", "client_secret_basic"),
    ("confidential", "client_secret_post"),
    ("public", "none"),
    ("native", "none"),
]


def begin(scene: Scene, method: str) -> tuple[OAuth2Session, str, str]:
    session = OAuth2Session(
        scene.client_id,
        scene.client_secret,
        redirect_uri=REDIRECT,
        token_endpoint_auth_method=method,
        code_challenge_method="S256",
    )
    verifier = generate_token(64)
    endpoint = metadata()["authorization_endpoint"]
    url, _state = session.create_authorization_url(endpoint, code_verifier=verifier, **scene.parameters())
    return session, url, verifier


@pytest.mark.parametrize(("kind", "method"), WAYS)
def test_an_application_gets_a_token(kind, method):
    scene = Scene(kind)
    session, url, verifier = begin(scene, method)
    back = scene.browser.decide(url)
    server = metadata()
    token = session.fetch_token(server["token_endpoint"], authorization_response=back, code_verifier=verifier)
    assert token["token_type"] == "Bearer"
    assert token["expires_in"] == 24 * 3600
    assert token["authorization_details"] == DETAILS
    assert chat(token["access_token"]) == 200
    if kind == "confidential":
        shown = session.introspect_token(server["introspection_endpoint"], token=token["access_token"]).json()
        assert shown["active"] is True
        assert shown["agent_id"] == scene.agent_id


def test_a_wrong_verifier_is_an_error_that_the_library_knows():
    scene = Scene("confidential")
    session, url, _verifier = begin(scene, "client_secret_basic")
    back = scene.browser.decide(url)
    with pytest.raises(OAuthError, match="invalid_grant"):
        session.fetch_token(
            metadata()["token_endpoint"], authorization_response=back, code_verifier=generate_token(64)
        )
