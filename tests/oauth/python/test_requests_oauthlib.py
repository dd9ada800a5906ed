"""requests-oauthlib, unchanged."""

import pytest
from oauthlib.oauth2 import InvalidGrantError
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError
from requests_oauthlib import OAuth2Session

from world import DETAILS, REDIRECT, Scene, chat, metadata


def begin(scene: Scene) -> tuple[OAuth2Session, str]:
    session = OAuth2Session(scene.client_id, redirect_uri=REDIRECT, pkce="S256")
    url, _state = session.authorization_url(metadata()["authorization_endpoint"], **scene.parameters())
    return session, url


def fetch(session: OAuth2Session, scene: Scene, back: str) -> dict:
    secret = {"client_secret": scene.client_secret} if scene.client_secret else {"include_client_id": True}
    return session.fetch_token(metadata()["token_endpoint"], authorization_response=back, **secret)


@pytest.mark.parametrize("kind", ["confidential", "public", "native"])
def test_an_application_gets_a_token(kind):
    scene = Scene(kind)
    session, url = begin(scene)
    token = fetch(session, scene, scene.browser.decide(url))
    assert token["expires_in"] == 24 * 3600
    assert token["authorization_details"] == DETAILS
    assert chat(token["access_token"]) == 200


def test_a_user_who_says_no_is_an_error_that_the_library_knows():
    scene = Scene("confidential")
    session, url = begin(scene)
    with pytest.raises(AccessDeniedError):
        fetch(session, scene, scene.browser.decide(url, "deny"))


def test_a_code_that_comes_again_is_an_error_that_the_library_knows():
    scene = Scene("confidential")
    session, url = begin(scene)
    back = scene.browser.decide(url)
    token = fetch(session, scene, back)
    with pytest.raises(InvalidGrantError):
        fetch(session, scene, back)
    assert chat(token["access_token"]) == 401
