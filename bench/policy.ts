/** How long one decision of a policy takes: p50 and p99 in microseconds, for the presets and for a policy of 30 rules. `npx node bench/policy.ts` */
import { performance } from "node:perf_hooks";
import {
  all,
  arg,
  boundToIntent,
  effect,
  hostIn,
  not,
  oneOf,
  roles,
  unknownLinks,
  untrusted,
  within,
} from "../src/policy/rules/conditions.ts";
import type { CallRequest, Policy } from "../src/policy/decision.ts";
import { guarded, strict } from "../src/policy/study/guarded.ts";
import { sensible } from "../src/policy/rules/sensible.ts";
import { noIntent } from "../src/policy/knowledge/intent.ts";
import { knowing, learn, learnIntent } from "../src/policy/knowledge/learned.ts";
import { policy } from "../src/policy/study/policy.ts";
import { allow, ask, deny, limit } from "../src/policy/rules/builders.ts";
import { trustedLabel, untrustedFrom } from "../src/message/label.ts";

const rounds = 20_000;
const text =
  "Please answer ada@example.com and bob@example.org about invoice 4711 of 2026-03-01, as https://example.com/help says.";
const body = `${"A paragraph of an ordinary mail, with nothing in it that matters. ".repeat(12)} See https://example.com/help.`;

const thirty = policy({
  name: "thirty",
  rules: [
    allow("send_mail").when(arg("to").each(boundToIntent("email"))),
    ask("send_mail").when(not(arg("to").each(hostIn("example.com", "*.example.org")))),
    ask("send_mail").when(unknownLinks("body")),
    deny("send_mail").when(arg("copies").is(within({ min: 20 }))),
    limit("send_mail", { perRun: 5 }),
    ...Array.from({ length: 25 }, (_, index) =>
      ask("*")
        .when(
          all(
            untrusted(),
            effect("irreversible"),
            roles("target", "id").are(oneOf(`nobody-${index}`, "no one")),
          ),
        )
        .named(`rule ${index}`),
    ),
  ],
});

function call(to: readonly string[], isUntrusted: boolean): CallRequest {
  const intent = { ...noIntent("bench"), text, hash: "0".repeat(64), constants: ["me@example.com"] };
  const allowed = { skill: "bench", tools: new Map() };
  const label = isUntrusted ? untrustedFrom("tool/inbox") : trustedLabel;
  const learned = learn(learnIntent(intent, allowed, label), [], allowed);
  return {
    agent: "bench",
    skill: "bench",
    turn: 1,
    callId: "call-1",
    tool: "send_mail",
    effect: "irreversible",
    arguments: { to, subject: "Invoice 4711", body, copies: 1 },
    parameters: {
      to: { role: "target", type: "email" },
      subject: "content",
      body: "content",
      copies: "content",
    },
    get knows() {
      return knowing(intent, learned);
    },
  };
}

const calls: readonly (readonly [name: string, call: CallRequest])[] = [
  ["trusted", call(["ada@example.com", "bob@example.org"], false)],
  ["bound", call(["ada@example.com", "bob@example.org"], true)],
  ["attack", call(["ada@example.com", "eve@evil.example"], true)],
];
const policies: readonly (readonly [name: string, policy: Policy])[] = [
  ["sensible", sensible],
  ["strict", strict()],
  ["guarded", guarded()],
  ["30 rules", thirty],
];

/** How often this process gave up or lost the processor: a decision in which it did is not counted. */
function switches(): number {
  const { involuntaryContextSwitches, voluntaryContextSwitches } = process.resourceUsage();
  return involuntaryContextSwitches + voluntaryContextSwitches;
}

function microseconds(judge: Policy, request: CallRequest): readonly [p50: number, p99: number] {
  for (let round = 0; round < rounds / 4; round += 1) judge(request);
  const times: number[] = [];
  for (let round = 0; times.length < rounds && round < rounds * 2; round += 1) {
    const before = switches();
    const begun = performance.now();
    judge(request);
    const took = (performance.now() - begun) * 1000;
    if (switches() === before) times.push(took);
  }
  times.sort((a, b) => a - b);
  return [
    times[Math.floor(times.length / 2)] ?? Number.NaN,
    times[Math.floor(times.length * 0.99)] ?? Number.NaN,
  ];
}

console.log("policy     call      verdict   p50 µs   p99 µs");
for (const [name, judge] of policies)
  for (const [kind, request] of calls) {
    const [p50, p99] = microseconds(judge, request);
    const columns = [
      name.padEnd(10),
      kind.padEnd(9),
      judge(request).verdict.padEnd(7),
      p50.toFixed(1).padStart(8),
      p99.toFixed(1).padStart(8),
    ];
    console.log(columns.join(" "));
  }
