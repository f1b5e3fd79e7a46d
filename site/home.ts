/** What people come for, each with the page that has it and a piece of code to take. The script of tasks goes these ways. */
export const tasks: readonly { readonly want: string; readonly page: string }[] = [
  { want: "use a hosted model", page: "start" },
  { want: "try it without a key", page: "start#without-a-key" },
  { want: "give an agent tools", page: "tools" },
  { want: "stream to a browser", page: "serve-clients" },
  { want: "ask a person before a refund", page: "approvals" },
  { want: "limit cost per user", page: "accounts" },
  { want: "survive a crash", page: "durable-runs" },
  { want: "deploy two workers", page: "operations" },
  { want: "stop prompt injection", page: "policy" },
  { want: "get an answer that fits a schema", page: "structured-output" },
  { want: "use the tools of an MCP server", page: "mcp" },
  { want: "test in CI", page: "testing" },
];

/** The first page. */
export const home = `---
layout: home
hero:
  name: writ
  text: The model proposes, the program decides
  tagline: A TypeScript runtime for tool-calling agents. Every call ends in exactly one result, runs survive a crash, and no answer of a model gives it powers that you did not.
  image:
    src: /call.svg
    alt: A call on its way, from the proposal of the model to its one result
  actions:
    - theme: brand
      text: Start
      link: /start
    - theme: alt
      text: Recipes
      link: /recipes
    - theme: alt
      text: Why, and why not
      link: /why
features:
  - title: Authority outside of the model
    details: Allow-list, policy over arguments and where they come from, capabilities that work where you granted them. What a stranger wrote chooses nothing.
    link: /security
  - title: Runs that last
    details: Steps in SQLite or PostgreSQL. kill -9 loses nothing and pays nothing twice; an approval may come days later, from another machine.
    link: /durable-runs
  - title: Any model calls tools
    details: Native calls, or one of seven protocols in text for models without, chosen by a measurement and not by a guess.
    link: /models
---

## I want to

${tasks.map(({ want, page }) => `- [${want}](/${page})`).join("\n")}
`;
