// node examples/recipes/queue/main.ts
//
// Runs for the messages of a queue that delivers some messages twice, as most queues do. The id of a message is also the id of its run, so nothing is done twice.
import assert from "node:assert/strict";
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

interface Message {
  readonly id: string;
  readonly text: string;
}

/** A stand-in for the queue of your cloud. It delivers a message again until you delete it, and the first message again even after that. */
class Queue {
  readonly #messages: Message[] = [
    { id: "order-17", text: "Good morning" },
    { id: "order-17", text: "Good morning" },
    { id: "order-18", text: "Good morning" },
  ];
  receive(): Message | undefined {
    return this.#messages[0];
  }
  delete(message: Message): void {
    this.#messages.splice(this.#messages.indexOf(message), 1);
  }
}

const runs = durableRuns({ store: sqliteRuns(":memory:"), agents: [clerk] }); // use a file, or postgresRuns(url)
const worker = runs.work({ concurrency: 20 }); // in this process or in others
process.once("SIGTERM", () => void worker.drain());

const queue = new Queue();
for (let message = queue.receive(); message !== undefined; message = queue.receive()) {
  await runs.start(clerk, message.text, { id: message.id }); // when this returns, the run is on the disk
  queue.delete(message);
}

const all = await runs.list();
assert.deepEqual(all.map(({ id }) => id).toSorted(), ["order-17", "order-18"]);
for (const { id } of all) assert.equal((await runs.result(id)).output, "Good morning.");
await worker.drain();
console.log("Three messages, two runs.");
