/**
 * What tests of agents need: a model that follows a script, and tools that remember their calls.
 *
 * @module writ/testing
 */
export { scripted, type ScriptedModel, type ScriptOptions, type ScriptStep } from "./model/scripted.ts";
export { fakeTool, type FakeTool } from "./tool/fake-tool.ts";
