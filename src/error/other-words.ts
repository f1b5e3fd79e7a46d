import { didYouMean } from "../util/nearest.ts";

// A list of rules alone would deny each effect that it does not name.
const asking = 'policy: guarded({ extraRules: [ask("name_of_tool")] })';
const approvals =
  "needsapproval requireapproval toolapproval requiretoolapproval canusetool interruptbefore interrupton";
const settings = "temperature topP topK stopSequences seed frequencyPenalty presencePenalty providerOptions";

/** The text to write here, each with its names in other libraries: in lower case, without hyphens and underscores. */
type Words = Readonly<Record<string, string>>;

/** The words of any object that has the field of the row. `part: { field }` is for the part too, as `field`. */
const ofFields: Words = {
  name: "id toolname title",
  description: "tooldescription handoffdescription whentouse purpose",
  instructions: "system systemprompt systemmessage prompt",
  allow: "tools allowedtools activetools include only",
  deny: "disallowedtools exclude blockedtools",
  tools: "allowedtools activetools toolsets functions",
  execute: "run handler func fn call invoke",
  "execute: (args) => whatTheModelReads": "tomodeloutput",
  "execute: (args, { waitFor }) => result": "suspendschema resumeschema",
  effect: "annotations",
  "providerOptions: { openai: { strict } }": "strict",
  inputSchema: "parameters schema input args",
  outputSchema: "output returns",
  input: "inputschema parameters schema args argsschema",
  output: "outputschema outputtype responseformat structuredoutput experimentaloutput",
  timeoutMs: "timeout",
  signal: "abortsignal abort abortcontroller",
  id: "runid workflowid idempotencykey jobid",
  runId: "id requestid",
  session: "sessionid threadid thread conversationid memory",
  store: "storage checkpointer persistence",
  url: "uri endpoint baseurl serverurl",
  content: "recordinputs recordoutputs recordcontent capturecontent capturemessagecontent",
  principals: "auth authenticate authentication apikeys tokens",
  path: "basepath mountpath",
  origins: "cors allowedorigins corsorigins",
  "work: { concurrency }": "concurrency workers",
  lastRuns: "maxmessages lastmessages messagelimit windowsize window",
  concurrency: "toolcallconcurrency maxconcurrency paralleltoolcalls",
  settings: "modelsettings",
  "settings: { maxOutputTokens }": "maxtokens maxcompletiontokens maxoutputtokens",
  ...Object.fromEntries(settings.split(" ").map((name) => [`settings: { ${name} }`, name.toLowerCase()])),
  "budget: { turns }": "maxsteps maxturns maxiterations recursionlimit stopwhen",
  "budget: { tokens }": "maxtokens",
  "budget: { toolCalls }": "maxtoolcalls",
  "budget: { durationMs }": "timeoutms timeout",
  "budget: { costUsd }": "maxbudgetusd maxcostusd",
  "recover: { invalidArguments }": "experimentalrepairtoolcall repairtoolcall",
  "retry: { attempts }": "maxretries retries",
  "hooks: [{ beforeModel }]": "preparestep preparecall",
  hooks: "middleware guardrails inputguardrails outputguardrails inputprocessors outputprocessors",
  onEvent: "onstepfinish onstepend onfinish onend onchunk onerror callbacks",
  "onEvent: telemetry()": "telemetry experimentaltelemetry tracing",
};

/** The words of any other object that belong elsewhere. */
const elsewhere: Words = {
  [`agent({ ${asking} })`]: approvals,
  "agent({ onEvent })": "oninputstart oninputdelta oninputavailable",
};

const listenWith = (option: string): string =>
  `npx writ serve --${option}\` on the command line, or \`createServer(getRequestListener(server.fetch)).listen({ ${option} })`;

/** The words that mean something else for an agent, one run, a server or durable runs. */
const ofOwner: Readonly<Record<"agent" | "run" | "server" | "durable" | "other", Words>> = {
  agent: {
    [asking]: approvals,
    "run(input, { tools })": "activetools",
    "tools: [subagents(agents)]": "agents handoffs subagents",
    "tools: (await connectMcp({ name, url })).tools": "mcpservers",
    "tools: toolsOf(user)":
      "context experimentalcontext toolscontext runtimecontext requestcontext contextschema calloptionsschema",
    "durableRuns({ store, agents })": "checkpointer",
  },
  run: {
    "session: session(store, id)":
      "memory configurable sessionid threadid thread resourceid resource conversationid previousresponseid",
    "agent.stream(input)": "stream streammode",
    "agent.run(messages)": "messages prompt input",
  },
  server: { [listenWith("port")]: "port listen", [listenWith("host")]: "host hostname", ...elsewhere },
  durable: {
    "durableRuns(options).work({ concurrency })": "concurrency maxconcurrency workers work",
    ...elsewhere,
  },
  other: elsewhere,
};

/** An object with a field that it does not know. */
export interface Asking {
  readonly known: readonly string[];
  readonly owner?: keyof typeof ofOwner;
  /** Default: an object without other fields. */
  readonly given?: unknown;
}

/** The text to write in place of a field of another library; undefined if it is no such word. One that is there already comes only if there is no other. */
export function otherWord(field: string, { known, owner = "other", given }: Asking): string | undefined {
  const plain = field.toLowerCase().replaceAll(/[-_]/g, "");
  const meant = (words: Words): readonly string[] =>
    Object.keys(words).filter((write) => words[write]?.split(" ").includes(plain));
  const inFields = meant(ofFields).flatMap((write) => {
    const [, whole = "", inner = ""] = /^(\w+)(?:: \{ (\w+) \})?/.exec(write) ?? [];
    return known.includes(whole) ? write : known.includes(inner) ? inner : [];
  });
  const all = [...meant(ofOwner[owner]), ...inFields];
  return all.find((write) => !isThere(write, given)) ?? all[0];
}

const at = (object: unknown, name: string): unknown => Reflect.get(Object(object), name);

/** True if an object has the field of such a text, `name` or `budget: { turns }`. */
export function isThere(write: string, given: unknown): boolean {
  const [, whole, inner] = /^(\w+)(?:: \{ (\w+) \})?$/.exec(write) ?? [];
  if (whole === undefined) return false;
  return (inner === undefined ? at(given, whole) : at(at(given, whole), inner)) !== undefined;
}

/** `; write … in its place` for a field of another library, `; did you mean …?` for a misspelt one; empty for any other. */
export function fieldMeant(field: string, asking: Asking): string {
  const write = otherWord(field, asking);
  if (write === undefined) return didYouMean(field, asking.known);
  return isThere(write, asking.given)
    ? `; leave it out: \`${write}\` is there`
    : `; write \`${write}\` in its place`;
}
