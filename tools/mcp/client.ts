/**
 * The client that the conformance suite starts with the address of its server: an agent that calls every tool once. A sign-in is approved at once.
 */
import { agent } from "writ";
import { connectMcp } from "writ/mcp";

const url = process.argv.at(-1) ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  readonly client_id?: string;
  readonly client_secret?: string;
};

await using server = await connectMcp({
  name: "suite",
  url,
  revision: "2025-11-25",
  elicitation: true,
  prompts: [],
  timeoutMs: 20_000,
  signIn: {
    redirectUrl: "http://localhost:3000/callback",
    clientName: "writ-conformance",
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(context.client_id === undefined
      ? {}
      : {
          client: { id: context.client_id, ...(context.client_secret && { secret: context.client_secret }) },
        }),
    async open(address) {
      const response = await fetch(address, { redirect: "manual" });
      return response.headers.get("location") ?? "";
    },
  },
});

/** Arguments for the tool that adds; all other tools take none. */
const argumentsFor = (name: string): { readonly [field: string]: number } =>
  name.endsWith("add_numbers") ? { a: 5, b: 3 } : {};
const calls = server.tools.map(({ name }) => ({ name, arguments: argumentsFor(name) }));
const caller = agent({
  name: "caller",
  model: ({ messages }) =>
    messages.some(({ role }) => role === "tool") || calls.length === 0 ? "Done." : { calls },
  tools: server.tools,
  policy: () => ({ verdict: "allow", rule: "suite", reason: "the suite wants all calls" }),
});
await caller.run("Call all tools", { approve: () => true });
