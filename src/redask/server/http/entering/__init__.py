"""How a browser comes to the page signed in: by a code, by the identity provider."""
