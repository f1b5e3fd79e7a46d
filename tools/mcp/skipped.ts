/** The scenarios of the conformance suite that are left out, each with its reason. */
export const skipped: Readonly<Record<string, string>> = {
  "logging-set-level": "no `logging`: 2026-07-28 gives it up, and a call tells its progress",
  "tools-call-with-logging": "no `logging`",
  "completion-complete": "arguments are not completed",
  "tools-call-sampling": "an agent has a model of its own",
  "tools-call-elicitation": "a tool asks nobody: what is asked is an approval, with a form of its own",
  "elicitation-sep1034-defaults": "the form of an approval has no defaults",
  "elicitation-sep1330-enums": "the form of an approval has no choices",
  "json-schema-2020-12":
    "3 of its 4 checks: `$schema` is left out, since 2020-12 is what the protocol takes without it",
  "server-sse-polling": "nothing was checked: streams are not closed while a call is at work",
  "resources-read-text": "wants `test://static-text`: addresses are `writ://agent/name`",
  "resources-read-binary": "wants an address of its own; knowledge is text or JSON",
  "resources-templates-read": "no templates",
  "resources-subscribe": "no subscriptions",
  "resources-unsubscribe": "no subscriptions",
  "prompts-get-with-args": "wants arguments of its own: a skill has `input`",
  "prompts-get-embedded-resource": "a skill is text",
  "prompts-get-with-image": "a skill is text",
  "auth/2025-03-26-oauth-metadata-backcompat":
    "its metadata names another issuer than its address: the library refuses that (RFC 8414)",
  "auth/client-credentials-jwt": "programs are given a token in `headers`; people sign in",
  "auth/client-credentials-basic": "the same",
  "auth/cross-app-access-complete-flow": "the same",
};
