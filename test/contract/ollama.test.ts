import { ollama, type OllamaOptions } from "../../src/adapters/model/ollama.ts";
import { modelContract, type OpenModel, type WireAbilities, type WireScript } from "./model.ts";
import { startOllama } from "./ollama-server.ts";

const can: WireAbilities = {
  calls: true,
  reasoning: true,
  usage: true,
  missingUsage: true,
  callIds: true,
  missingCallIds: true,
  textArguments: true,
  failures: [
    "model-not-found",
    "no-tools",
    "refused-key",
    "rate-limited",
    "too-long",
    "overloaded",
    "server-error",
    "bad-request",
  ],
  midStreamErrors: true,
  cut: true,
  stall: true,
  unreachable: true,
};

async function open(script: WireScript, options: OllamaOptions = {}): Promise<OpenModel> {
  const server = await startOllama({
    script,
    installed: [{ name: "other:latest", capabilities: ["tools"] }],
  });
  const { bodies, dropped, close } = server;
  return {
    model: ollama("m", { host: server.url, ...options }),
    close,
    bodies: () => bodies,
    dropped: () => dropped,
  };
}

modelContract("ollama", { scripted: true, can, open });

// Without pieces there is nothing to read before a stall, nor before an error.
modelContract("ollama without streaming", {
  scripted: true,
  can: { ...can, stall: false, midStreamErrors: false },
  open: (script) => open(script, { stream: false }),
});
