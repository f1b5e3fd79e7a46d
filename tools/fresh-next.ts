/** The files of a Next.js app whose route handler runs an agent. `ask.mjs` starts the built app, asks it over HTTP, prints the reply and ends it. */
export function nextFiles(config: string): Readonly<Record<string, string>> {
  return {
    "next.config.mjs": `export default ${config};\n`,
    "app/layout.jsx": 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n',
    "app/page.jsx": "export default () => <p>Hi</p>;\n",
    "app/api/ask/route.js": `import { agent, tool } from "writ";
const greet = tool({ name: "greet", description: "Greet", inputSchema: { type: "object" }, effect: "none", execute: () => "Hello." });
const greeter = agent({ name: "greeter", driver: "native", model: ({ messages }) => reply(messages.at(-1)), tools: [greet] });
const reply = ({ role }) => (role === "user" ? { calls: [{ name: "greet", arguments: {} }] } : "It said Hello.");
export const POST = async (request) => {
  const { text, calls } = await greeter.run(await request.text());
  return new Response(calls.length + " call: " + text);
};
`,
    "ask.mjs": `import { spawn } from "node:child_process";
const server = spawn(process.execPath, ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", "0"]);
let told = "";
for await (const chunk of server.stdout) {
  told += chunk;
  const [url] = told.match(/http:\\/\\/127\\.0\\.0\\.1:\\d+/) ?? [];
  if (url === undefined || !told.includes("Ready")) continue;
  const reply = await fetch(url + "/api/ask", { method: "POST", body: "Hi" });
  console.log(reply.status, await reply.text());
  break;
}
server.kill();
`,
  };
}
