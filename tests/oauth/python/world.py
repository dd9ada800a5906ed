"""A gateway's organization with an agent and an application, and its owner's browser: forms over plain HTTP, as a browser
without scripts sends them.
"""

import html
import json
import os
import re
import subprocess
from urllib.parse import urlsplit

import requests

GATEWAY = os.environ["SDK_GATEWAY"]
PROGRAM = os.environ["SDK_PROGRAM"]
CONFIG = os.environ["SDK_CONFIG"]
REDIRECT = "https://carenav.example/cb?tenant=1"
DETAILS = [{"type": "svc_agent_access", "actions": ["chat"], "max_tokens": 64}]
PASSWORD = "a sentence nobody guesses"
# Seconds for any single call; a busy machine takes its time.
TIMEOUT_S = 30


def metadata() -> dict:
    return requests.get(f"{GATEWAY}/.well-known/oauth-authorization-server", timeout=TIMEOUT_S).json()


def chat(token: str) -> int:
    """The status of a chat with this token."""
    headers = {"Authorization": f"Bearer {token}"}
    body = {"message": "Hello.", "stream": False}
    return requests.post(f"{GATEWAY}/v1/ai/chat", json=body, headers=headers, timeout=TIMEOUT_S).status_code


class Scene:
    """An organization, an agent that may speak, an application of this type, and the owner's browser."""

    def __init__(self, kind: str):
        printed = subprocess.run(
            [PROGRAM, "admin", "bootstrap", "--json", "--config", CONFIG], check=True, capture_output=True, text=True
        )
        organization = json.loads(printed.stdout)
        self.key = organization["api_key"]
        agent = self._post("/v1/agents", {"name": "Intake", "scope_grants": [{"scope": "ai:chat"}]})
        self.agent_id = agent["agent"][0]["id"]
        application = {"name": "CareNav", "type": kind, "redirect_uris": [REDIRECT]}
        self.application = self._post("/v1/oauth/applications", application)
        self.client_id = self.application["client_id"]
        self.client_secret = self.application.get("client_secret")
        self.browser = Browser()
        self.browser.accept(organization["invitation_url"])

    def _post(self, path: str, body: dict) -> dict:
        headers = {"Authorization": f"Bearer {self.key}"}
        answer = requests.post(GATEWAY + path, json=body, headers=headers, timeout=TIMEOUT_S)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    def parameters(self) -> dict:
        """What an authorization request says beside what every OAuth library says by itself."""
        return {"agent_id": self.agent_id, "authorization_details": json.dumps(DETAILS)}


class Browser:
    def __init__(self):
        self._session = requests.Session()

    def _submit(self, page: str, action: str, fields: dict) -> requests.Response:
        form = page.split(f'action="{action}"')[1].split("</form>")[0]
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
        body = {name: html.unescape(value) for name, value in hidden} | fields
        return self._session.post(GATEWAY + action, data=body, allow_redirects=False, timeout=TIMEOUT_S)

    def accept(self, invitation: str) -> None:
        page = self._session.get(invitation, timeout=TIMEOUT_S).text
        typed = {"password": PASSWORD, "again": PASSWORD}
        done = self._submit(page, urlsplit(invitation).path, typed)
        assert done.status_code == 303, done.text

    def decide(self, url: str, decision: str = "allow") -> str:
        """Follows the application's link, decides, and comes back with the address that the application is called at."""
        answer = self._session.get(url, allow_redirects=False, timeout=TIMEOUT_S)
        assert answer.status_code == 200, answer.text
        done = self._submit(answer.text, "/ui/consent", {"decision": decision})
        assert done.status_code == 303, done.text
        return done.headers["location"]
