/** A server that asks a person more than one answers: of its tool `flood` all at once, of `insist` again after each answer. */
import { createInterface } from "node:readline";

interface Said {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

const most = 200;
let asked = 0;
let call: Said["id"];
let tool: string | undefined;

const send = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
};
const ask = (): void => {
  asked += 1;
  const requestedSchema = { type: "object", properties: { constructor: { type: "string" } } };
  send({
    id: `${String(call)}/${asked}`,
    method: "elicitation/create",
    params: { message: "Well?", requestedSchema },
  });
};

createInterface({ input: process.stdin }).on("line", (line) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client of the tests
  const { id, method, params } = JSON.parse(line) as Said;
  if (method === "initialize") {
    const serverInfo = { name: "insisting", version: "1.0.0" };
    send({
      id,
      result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
    });
  } else if (method === "tools/list") {
    const inputSchema = { type: "object" };
    send({ id, result: { tools: ["flood", "insist"].map((name) => ({ name, inputSchema })) } });
  } else if (method === "tools/call") {
    call = id;
    tool = params?.name;
    asked = 0;
    for (let count = 0; count < (tool === "flood" ? most : 1); count += 1) ask();
  } else if (typeof id === "string" && id.startsWith(`${String(call)}/`)) {
    const isLast = id === `${String(call)}/${most}`;
    if (tool === "insist" && !isLast) ask();
    if (isLast) send({ id: call, result: { content: [{ type: "text", text: "enough" }] } });
  }
});
