import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { instantFd } from "../../../../src/adapters/isolate/child/messages.ts";

const handles = new URL("../../../../src/adapters/isolate/child/handles.ts", import.meta.url).href;
const cell = `
import { askOverPipe } from ${JSON.stringify(handles)};
try {
  askOverPipe({ type: "ask" });
} catch (error) {
  console.log(error.message);
}
`;

it("a cell that waits for an answer at once ends when its parent is gone", async () => {
  const stdio = Array.from({ length: instantFd + 1 }, () => "pipe" as const);
  const child = spawn(process.execPath, ["--input-type=module", "--eval", cell], { stdio });
  onTestFinished(() => void child.kill("SIGKILL"));
  const pipe = child.stdio[instantFd];
  if (!(pipe instanceof Readable) || child.stdout === null) throw new Error("it has no pipes");
  const said = text(child.stdout);
  await once(pipe, "data");
  pipe.destroy();
  expect(await said).toBe("the parent is gone\n");
});
