"""Commands about users, tokens and policies. One file a command."""
