// openid-client, unchanged.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as client from "openid-client";
import { DETAILS, GATEWAY, PLAIN_REDIRECT, chat, scene } from "./world.js";

const AUTHENTICATIONS = {
  confidential: [(secret) => client.ClientSecretBasic(secret), (secret) => client.ClientSecretPost(secret)],
  public: [() => client.None()],
};

for (const [type, ways] of Object.entries(AUTHENTICATIONS)) {
  for (const way of ways) {
    test(`a ${type} application gets a token`, async () => {
      const { agentId, application, browser } = await scene(type);
      const configuration = await client.discovery(
        new URL(GATEWAY), application.client_id, undefined, way(application.client_secret),
        // The gateway of the test speaks plain HTTP on a loopback address.
        { algorithm: "oauth2", execute: [client.allowInsecureRequests] },
      );
      const verifier = client.randomPKCECodeVerifier();
      const state = client.randomState();
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: PLAIN_REDIRECT,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        agent_id: agentId,
        authorization_details: JSON.stringify(DETAILS),
      });
      const back = await browser.decide(url);
      const token = await client.authorizationCodeGrant(configuration, back, {
        pkceCodeVerifier: verifier,
        expectedState: state,
      });
      assert.equal(token.expires_in, 24 * 3600);
      assert.deepEqual(token.authorization_details, DETAILS);
      assert.equal((await chat(token.access_token)).status, 200);
      if (type !== "confidential") return;
      const shown = await client.tokenIntrospection(configuration, token.access_token);
      assert.equal(shown.active, true);
      assert.equal(shown.agent_id, agentId);
      assert.deepEqual({ ...(await client.tokenIntrospection(configuration, "nothing")) }, { active: false });
    });
  }
}
