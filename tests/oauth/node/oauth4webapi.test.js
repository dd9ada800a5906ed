// oauth4webapi, unchanged: discovery, PKCE, RFC 9207, RFC 9396, redemption and introspection.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as oauth from "oauth4webapi";
import { DETAILS, GATEWAY, REDIRECT, chat, scene } from "./world.js";

// The gateway of the test speaks plain HTTP on a loopback address.
const INSECURE = { [oauth.allowInsecureRequests]: true };

async function discover() {
  const issuer = new URL(GATEWAY);
  const answer = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...INSECURE });
  return oauth.processDiscoveryResponse(issuer, answer);
}

async function begin(server, { agentId, application }) {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    client_id: application.client_id,
    redirect_uri: REDIRECT,
    response_type: "code",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    agent_id: agentId,
    authorization_details: JSON.stringify(DETAILS),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url, verifier, state };
}

const AUTHENTICATIONS = {
  confidential: [(secret) => oauth.ClientSecretBasic(secret), (secret) => oauth.ClientSecretPost(secret)],
  public: [() => oauth.None()],
  native: [() => oauth.None()],
};

for (const [type, ways] of Object.entries(AUTHENTICATIONS)) {
  for (const way of ways) {
    test(`a ${type} application gets a token`, async () => {
      const server = await discover();
      const world = await scene(type);
      const client = { client_id: world.application.client_id };
      const authentication = way(world.application.client_secret);
      const { url, verifier, state } = await begin(server, world);
      const back = await world.browser.decide(url);
      const parameters = oauth.validateAuthResponse(server, client, back, state);
      const answer = await oauth.authorizationCodeGrantRequest(
        server, client, authentication, parameters, REDIRECT, verifier, INSECURE,
      );
      const token = await oauth.processAuthorizationCodeResponse(server, client, answer);
      assert.equal(token.expires_in, 24 * 3600);
      assert.deepEqual(token.authorization_details, DETAILS);
      assert.equal((await chat(token.access_token)).status, 200);
      if (type !== "confidential") return;
      const asked = await oauth.introspectionRequest(server, client, authentication, token.access_token, INSECURE);
      const shown = await oauth.processIntrospectionResponse(server, client, asked);
      assert.equal(shown.active, true);
      assert.equal(shown.iss, server.issuer);
      assert.equal(shown.agent_id, world.agentId);
    });
  }
}

test("a user who says no is an error that the library knows", async () => {
  const server = await discover();
  const world = await scene("public");
  const { url, state } = await begin(server, world);
  const back = await world.browser.decide(url, "deny");
  assert.throws(
    () => oauth.validateAuthResponse(server, { client_id: world.application.client_id }, back, state),
    (error) => error instanceof oauth.AuthorizationResponseError && error.error === "access_denied",
  );
});

test("a code that comes again is an error that the library knows", async () => {
  const server = await discover();
  const world = await scene("public");
  const client = { client_id: world.application.client_id };
  const { url, verifier, state } = await begin(server, world);
  const parameters = oauth.validateAuthResponse(server, client, await world.browser.decide(url), state);
  const redeem = async () =>
    oauth.processAuthorizationCodeResponse(
      server, client,
      await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), parameters, REDIRECT, verifier, INSECURE),
    );
  const token = await redeem();
  await assert.rejects(redeem, (error) => error instanceof oauth.ResponseBodyError && error.error === "invalid_grant");
  assert.equal((await chat(token.access_token)).status, 401);
});
