/**
 * The tools for tests of agents: a model that follows a script, tools that remember their calls, providers on the loopback interface, matchers for
 * test runners, contracts as checks, and a guard that finds tools that use undeclared powers. Importing this module turns the guard on.
 *
 * @module writ/testing
 */
import { startPowerGuard } from "./adapters/power-guard.ts";

export { scripted, type ScriptedModel, type ScriptOptions, type ScriptStep } from "./model/scripted.ts";
export { fakeTool, type FakeTool, type FakeToolOptions } from "./tool/fake-tool.ts";
export { cassette, type CassetteMode, type CassetteOptions } from "./adapters/cassette/cassette.ts";
export { faulty, type ModelFault } from "./adapters/faulty.ts";
export { fakeAnthropic, fakeGemini, fakeOllama, fakeOpenai } from "./adapters/fake-providers/fakes.ts";
export type {
  FakeAnswer,
  FakeFault,
  FakeOpenaiOptions,
  FakeOptions,
  FakeProvider,
  FakeReply,
  FakeRequest,
  FakeStep,
} from "./adapters/fake-providers/fake-provider.ts";
export type { ContractCheck } from "./eval/contract/check.ts";
export { driverContract, type DriverSubject } from "./eval/contract/driver-contract.ts";
export { executorContract } from "./eval/contract/executor-contract.ts";
export { recordedScript } from "./eval/simulate/recorded-script.ts";
export { simulate, type Simulation, type SimulationFailure } from "./eval/simulate/simulate.ts";
export type { SimulationOptions } from "./eval/simulate/options.ts";
export type { Deviation, DeviationName, ProposedCall, Schedule } from "./eval/simulate/schedule.ts";
export type { ScriptReply } from "./eval/simulate/stand-in-model.ts";
export type { StandIn, StandInCall } from "./eval/simulate/stand-in-tool.ts";
export type { TestSource } from "./eval/simulate/scripted-test.ts";
export type { SimulatedInside } from "./eval/simulate/inside-run.ts";
export type { Invariant, SimulatedEffect, SimulatedOutcome, SimulationView } from "./eval/simulate/view.ts";
export { type GuaranteeSheet, prove, type ProveOptions, type ProvenSentence } from "./eval/prove/prove.ts";
export { sentenceInvariants } from "./eval/prove/holds.ts";
export type { AgentSource } from "./eval/prove/script.ts";
export type {
  AboutTools,
  ApartSentence,
  AtMostSentence,
  BoundSentence,
  GivenSentence,
  NeverSentence,
  PowersSentence,
  Sentence,
} from "./eval/prove/sentence.ts";
export {
  type Matched,
  type MatcherContext,
  runMatchers,
  type RunMatchers,
  type ToolOrName,
} from "./eval/run-matchers.ts";
export { powerGuard, type PowerGuard, type UndeclaredPower } from "./adapters/power-guard.ts";

startPowerGuard();
