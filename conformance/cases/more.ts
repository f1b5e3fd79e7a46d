import type { Case } from "../suite/case.ts";
import { calls, demand, says, until } from "../suite/scene.ts";

/** What some runtimes have and others leave to the program. */
export const moreCases: readonly Case[] = [
  {
    id: "more/forced-call",
    asks: "The model can be forced to call a tool; after the call, the run ends as usual.",
    why: "«Always look it up» should not depend on the model, and must not loop for ever.",
    needs: ["forced-call"],
    async play(t) {
      const look = t.tool("look", {}, () => "seen");
      t.model((request, n) =>
        n > 6 || request.messages.some(({ role }) => role === "tool")
          ? { text: "Seen." }
          : calls(["look", {}]),
      );
      const { text, threw } = await t.ask({ tools: [look], forcedCall: true }, "Look.");
      demand(
        t.requests[0]?.toolChoice === "required",
        `the first request says ${JSON.stringify(t.requests[0]?.toolChoice)}`,
      );
      demand(look.ran.length === 1, `the tool ran ${look.ran.length} times`);
      demand(
        text === "Seen." && t.requests[1]?.toolChoice !== "required",
        threw ?? "the second request forces a call again",
      );
    },
  },
  {
    id: "more/handoff",
    asks: "After a handoff, the other agent answers, with its own instructions, and knows the earlier conversation.",
    why: "Support desks are built in this way.",
    needs: ["handoff"],
    async play(t) {
      t.model((request, n) => {
        const [tool] = request.tools;
        return n === 0 && tool !== undefined ? calls([tool.function.name, {}]) : { text: "Refund made." };
      });
      const { text, threw } = await t.ask(
        { tools: [], handoff: { name: "refunds", instructions: "You make refunds." } },
        "I want my money back.",
      );
      t.demandValid();
      demand(
        text === "Refund made." &&
          t.sent(1).includes("You make refunds.") &&
          t.sent(1).includes("money back"),
        threw ?? `gave ${JSON.stringify(text)}; sent ${JSON.stringify(t.sent(1).slice(0, 120))}`,
      );
    },
  },
  {
    id: "more/second-model",
    asks: "If the first model stays down, a second one is asked and answers.",
    why: "A single provider is often down.",
    needs: ["fallback"],
    async play(t) {
      t.model(() => ({ status: 500 }));
      t.stage.fallbackDialogue.script = says({ text: "Hello from the second." });
      const { text, threw } = await t.ask({ tools: [], fallback: t.stage.fallback }, "Hello.");
      demand(text === "Hello from the second.", threw ?? `gave ${JSON.stringify(text)}`);
    },
  },
  {
    id: "more/guardrail-beside",
    asks: "A slow check of the user's message runs at the same time as the model, and stops the run before any tool.",
    why: "A check that runs before the model doubles the time to the first word.",
    needs: ["guardrail"],
    async play(t) {
      const send = t.tool("send", {}, () => "sent", { effect: "irreversible" });
      let askedMeanwhile = false;
      const guardrail = async (message: string): Promise<boolean> => {
        askedMeanwhile = await until(() => t.requests.length > 0, 4000);
        return message.includes("bad");
      };
      t.model(says({ ...calls(["send", {}]), pauseMs: 400 }, { text: "Sent." }));
      const { ended } = await t.ask({ tools: [send], guardrail }, "Do something bad.");
      demand(ended !== "stop" && send.ran.length === 0, `ended as ${ended}; sent ${send.ran.length} times`);
      demand(askedMeanwhile, "the model was not asked before the check was over");
    },
  },
  {
    id: "more/call-for-the-caller",
    asks: "A call of a tool without code is handed to the caller; with its result the run goes on.",
    why: "Some tools are in the browser: the map, the camera, the open document.",
    needs: ["client-tool"],
    async play(t) {
      const locate = t.tool("locate", {}, () => "never", { isClient: true });
      t.model(says(calls(["locate", {}]), { text: "You are in Lima." }));
      const end = await t.ask(await t.start({ tools: [locate] }), "Where am I?");
      const [call] = end.questions ?? [];
      const { answer } = end;
      const isHanded = call?.isClient === true && call.tool === "locate" && answer !== undefined;
      demand(isHanded, end.threw ?? `handed ${JSON.stringify(end.questions)}`);
      const given = [{ id: call.id, approved: true, result: "Lima 12.04 S" }];
      const { text, threw } = await t.outcome(() => answer(given));
      t.demandValid();
      demand(
        text === "You are in Lima." && t.sent(1).includes("Lima 12.04 S"),
        threw ?? `gave ${JSON.stringify(text)}`,
      );
    },
  },
];
