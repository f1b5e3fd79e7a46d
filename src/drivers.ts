/**
 * Drivers, each of which speaks to models in its own format, and their parts: the recogniser of calls in text, grammars, unfinished JSON.
 *
 * @module writ/drivers
 */
export { type ParsedJson } from "./util/json.ts";
export { lenientJson } from "./util/lenient-json.ts";
export { type PartialJson, partialJson } from "./util/partial-json.ts";

export { type DriverName, driverNames } from "./model/driver-names.ts";

export { type AllowList } from "./policy/allow-list.ts";
export { type AnswerIn, type DriverChoice } from "./driver/choose.ts";
export { type Reply } from "./model/assemble.ts";
export { decideBy, type Deciding, decidingDriver } from "./driver/deciding.ts";
export { commandDriver, type CommandDriverOptions } from "./driver/command.ts";
export {
  type AskModel,
  type Driver,
  type DriverDecision,
  type JsonAnswering,
  type Reading,
  type TurnInput,
  type WorkedExample,
} from "./driver/driver.ts";
export { type Relaxed } from "./driver/grammar/compiler.ts";
export { type CompiledGrammar, compileGrammar } from "./driver/grammar/grammar.ts";
export { guidedDriver, type GuidedDriverOptions } from "./driver/guided/guided.ts";
export { type LongThought } from "./driver/json-protocol.ts";
export { type JsonDialect, type JsonDriverOptions } from "./driver/json-settings.ts";
export { jsonDriver } from "./driver/json.ts";
export { nativeDriver } from "./driver/native.ts";
export { pythonicDriver, type PythonicDriverOptions } from "./driver/pythonic.ts";
export { reactDriver, type ReactDriverOptions } from "./driver/react.ts";
export {
  type KnownTool,
  type LayerName,
  type ReadOptions,
  type RecognisedCall,
  type Recogniser,
  type RecogniserMode,
  type RecogniserStream,
  type Recognition,
  type RefusedCall,
} from "./driver/recognise/recognise.ts";
export { recogniser } from "./driver/recognise/recogniser.ts";
export { type ReplyShape, type ShapeWriter, type Shaping } from "./driver/reply-shape.ts";
export { selectDriver, type SelectDriverOptions } from "./driver/select.ts";
export { asChat, inWords, type TextWords } from "./driver/text-chat.ts";
export { textDriver } from "./driver/text-driver.ts";
export {
  type Exchanged,
  type TextCall,
  type TextConversation,
  type TextProtocol,
  type TextQuestion,
  type TextReading,
  type TextRefusal,
} from "./driver/text-protocol.ts";
export { type ShownTools } from "./driver/describe-type.ts";
