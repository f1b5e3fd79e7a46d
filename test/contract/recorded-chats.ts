import { recordingsIn, type Recording } from "./ai-sdk-recordings.ts";

const packages = "vercel-ai/packages";
const prism = "prism/tests/Fixtures";

/** Chat completions of many providers. */
export const recordedChats: readonly (readonly [string, Recording])[] = [
  ...[
    "alibaba/src",
    "xai/src",
    "groq/src",
    "moonshotai/src",
    "deepseek/src/chat",
    "openai-compatible/src/chat",
    "openai/src/chat",
    "mistral/src",
  ].map((path) => `${packages}/${path}/__fixtures__`),
  ...["deepseek", "groq", "openrouter", "mistral"].map((name) => `${prism}/${name}`),
].flatMap((folder) =>
  recordingsIn(folder, /(?:\.chunks\.txt|\.sse)$/).map(
    (recording) => [`${folder.split("/").slice(1, 4).join("/")} ${recording.name}`, recording] as const,
  ),
);

/** The same that came whole. */
export const recordedWholeChats: readonly Recording[] = [
  "alibaba/src",
  "groq/src",
  "moonshotai/src",
  "deepseek/src/chat",
  "openai-compatible/src/chat",
].flatMap((path) => recordingsIn(`${packages}/${path}/__fixtures__`, /^(?!.*transcription).*\.json$/));
