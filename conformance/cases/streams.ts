import type { Case } from "../suite/case.ts";
import { calls, demand, says, until } from "../suite/scene.ts";

const text = "The quick brown fox jumps over the lazy dog.";

/** Runs that are read while they go on. */
export const streamCases: readonly Case[] = [
  {
    id: "stream/as-it-is-written",
    asks: "The reader gets the first words before the model has written the last.",
    why: "A user wants to read early; streams exist for that.",
    needs: ["stream"],
    async play(t) {
      let shown = "";
      // the model holds back its last two words until the first was shown
      const before = (written: number) => (written === 7 ? until(() => shown !== "", 5000) : undefined);
      t.model(says({ text, before }));
      const { pieces } = await t.stream(await t.start({ tools: [] }), "Say it.");
      let writtenAtFirst = Infinity;
      for await (const piece of pieces) {
        if (shown === "") writtenAtFirst = t.requests[0]?.written ?? Infinity;
        shown += piece;
      }
      demand(shown === text, `gave ${JSON.stringify(shown)}`);
      demand(writtenAtFirst < 8, `${writtenAtFirst} of 9 words were written when the first was shown`);
    },
  },
  {
    id: "stream/calls-and-text",
    asks: "A streamed run carries out calls like any other, and its text is complete.",
    why: "Most products stream their answers.",
    needs: ["stream"],
    async play(t) {
      const add = t.tool(
        "add",
        { a: "number", b: "number" },
        ({ a, b }: { readonly a: number; readonly b: number }) => a + b,
      );
      t.model(says(calls(["add", { a: 2, b: 35 }]), { text: "It is 37." }));
      const { shown, ended, threw } = await t.read(await t.start({ tools: [add] }), "2 + 35?");
      t.demandValid();
      demand(
        shown.endsWith("It is 37.") && ended === "stop" && add.ran.length === 1,
        threw ?? `showed ${JSON.stringify(shown)}, ended as ${ended}`,
      );
    },
  },
  {
    id: "stream/interleaved-calls",
    asks: "Two calls whose arguments come in turns, piece by piece, are read correctly.",
    why: "Servers that batch requests write calls in this way.",
    needs: ["stream"],
    async play(t) {
      const add = t.tool("add", { a: "number", b: "number" });
      t.model(
        says(
          { ...calls(["add", { a: 11, b: 12 }], ["add", { a: 21, b: 22 }]), interleaved: true },
          { text: "Done." },
        ),
      );
      const { threw } = await t.read(await t.start({ tools: [add] }), "Add.");
      demand(
        JSON.stringify(add.ran) === '[{"a":11,"b":12},{"a":21,"b":22}]',
        threw ?? `ran with ${JSON.stringify(add.ran)}`,
      );
    },
  },
  {
    id: "stream/crumbs",
    asks: "A stream in portions of seven bytes, which divide characters, is read correctly.",
    why: "A network may cut a stream at any byte.",
    needs: ["stream"],
    async play(t) {
      const words = "Žofie schrieb 日本語 👩‍👩‍👧 heute.";
      const note = t.tool("note", { text: "string" });
      t.model(says({ ...calls(["note", { text: words }]), crumbs: true }, { text: words, crumbs: true }));
      const { shown, threw } = await t.read(await t.start({ tools: [note] }), "Note it.");
      demand(shown.endsWith(words), threw ?? `showed ${JSON.stringify(shown)}`);
      demand(
        JSON.stringify(note.ran) === JSON.stringify([{ text: words }]),
        `ran with ${JSON.stringify(note.ran)}`,
      );
    },
  },
  {
    id: "stream/left-early",
    asks: "When the reader of a stream leaves, the request to the model is closed, and no call begins afterwards.",
    why: "After a user closes the tab, the run should not cost or do anything more.",
    needs: ["stream"],
    async play(t) {
      const send = t.tool("send", {}, () => "sent", { effect: "irreversible" });
      let hasLeft = false;
      const isClosed = (): boolean => t.requests[0]?.left === true;
      // the model holds back the end of its text, and the call, until the reader has left and there was time to close the request
      const before = async (written: number): Promise<void> => {
        if (written !== 7) return;
        await until(() => hasLeft, 5000);
        await until(isClosed, 3000);
      };
      t.model(says({ text, ...calls(["send", {}]), before }, { text: "Done." }));
      const { pieces } = await t.stream(await t.start({ tools: [send] }), "Say it, then send.");
      for await (const _piece of pieces) {
        hasLeft = true;
        break;
      }
      await until(() => isClosed() || t.requests[0]?.written === 12, 9000);
      await t.settled();
      demand(send.ran.length === 0, "the call ran after the reader had left");
      demand(isClosed(), "the request was read to its end");
      demand(t.requests.length === 1, `the model was asked ${t.requests.length} times`);
    },
  },
  {
    id: "stream/broken-in-text",
    asks: "A reply that breaks off in its text is an error or is requested again; half of it is not returned as the answer.",
    why: "A half such as «you may take up to 40» reads like a whole sentence.",
    needs: ["stream"],
    async play(t) {
      t.model((_request, n) => (n === 0 ? { text, cut: { after: 4, how: "broken" } } : { text }));
      const { ended, text: said, threw } = await t.read(await t.start({ tools: [] }), "Say it.");
      demand(
        threw !== undefined || ended !== "stop" || said === text,
        `answered with ${JSON.stringify(said)}`,
      );
    },
  },
  {
    id: "stream/ended-in-text",
    asks: "The same for a stream that just ends, without a mark that it is complete.",
    why: "Proxies with a time limit end streams in this way.",
    needs: ["stream"],
    async play(t) {
      t.model((_request, n) => (n === 0 ? { text, cut: { after: 4, how: "ended" } } : { text }));
      const { ended, text: said, threw } = await t.read(await t.start({ tools: [] }), "Say it.");
      demand(
        threw !== undefined || ended !== "stop" || said === text,
        `answered with ${JSON.stringify(said)}`,
      );
    },
  },
  {
    id: "stream/broken-behind-a-call",
    asks: "A call that changes something, in a reply that broke off after it, does not run twice, and does not run unreported.",
    why: "A runtime asks again for a reply that broke off, and the new reply has the call once more.",
    needs: ["stream"],
    async play(t) {
      const send = t.tool("send", { to: "string" }, () => "sent", { effect: "irreversible" });
      const twice = calls(["send", { to: "Ada" }], ["send", { to: "Ben" }]);
      t.model((request, n) => {
        if (request.messages.some(({ role }) => role === "tool")) return { text: "Sent." };
        return n === 0 ? { ...twice, cut: { after: 4, how: "broken" }, pauseMs: 30 } : twice;
      });
      const { threw, ended } = await t.read(await t.start({ tools: [send] }), "Send both.");
      await t.settled();
      const toAda = send.ran.filter((args) => (args as { to: string }).to === "Ada").length;
      demand(toAda <= 1, `it was sent ${toAda} times`);
      demand(toAda === 0 || (threw === undefined && ended === "stop"), "it ran, and the run failed");
    },
  },
];
