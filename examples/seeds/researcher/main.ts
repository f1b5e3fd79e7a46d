// node examples/seeds/researcher/main.ts
//
// Settings of a model are plain data with defaults. Here a server on this machine plays Ollama; a function can replace it.
import assert from "node:assert/strict";
import { agent } from "writ";
import { ollama } from "writ/ollama";
import { fakeOllama } from "writ/testing";

const byDefault = ollama("qwen2.5:7b");
console.log(byDefault.settings);
assert.deepEqual(byDefault.settings, {
  provider: "ollama",
  name: "qwen2.5:7b",
  host: "localhost",
  port: 11434,
  temperature: 0.7,
});

await using server = await fakeOllama(["Tea comes from China."]);
const model = ollama("qwen2.5:7b", { host: server.url });
const researcher = agent({ name: "researcher", model });
const answer = await researcher("Where does tea come from?");
console.log(answer);
assert.equal(answer, "Tea comes from China.");

const [request] = server.requests;
console.log(request?.method, request?.path, request?.body);
assert.equal(request?.path, "/api/chat");
assert.match(JSON.stringify(request.body), /"temperature":0\.7/);

const offline = researcher.with({ model: () => "42" });
const [fromFunction, asked] = [await offline("Where does tea come from?"), server.requests.length];
console.log(fromFunction);
assert.deepEqual([fromFunction, asked], ["42", 1]);

// The text of a failing server is an error, never an answer.
await using broken = await fakeOllama([{ status: 500, message: "out of memory" }]);
const failing = agent({
  name: "researcher",
  model: ollama("qwen2.5:7b", { host: broken.url }),
  retry: false,
});
await assert.rejects(failing("Where does tea come from?"), { message: /out of memory/ });
console.log("A failure of the server is no answer.");
