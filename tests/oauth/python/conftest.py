"""The gateway of the test speaks plain HTTP on a loopback address, which the libraries want to be told."""

import os

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
