/**
 * Writes a model of random weights: npx node tools/random-model.ts <file.gguf> [--seed n] [--bytes]
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

/**
 * A model of random weights in the GGUF format, version 3: llama architecture, a vocabulary of characters and the three control tokens of
 * ChatML. About 430 kB. It writes nonsense, but through the whole of llama.cpp: tokenizer, template, cache, grammar, sampling.
 */
export interface RandomModelOptions {
  /** The same seed gives the same file. Default 1. */
  readonly seed?: number;
  /** The Jinja template in the metadata; `null` writes none. Default: ChatML. */
  readonly chatTemplate?: string | null;
  /**
   * `bytes`: the 256 bytes, so that any text can be read, and what is written is seldom UTF-8. `characters`: ASCII and some letters, signs and
   * emoji of others, so that what is written is always text; other characters of a prompt are passed over. Default `characters`.
   */
  readonly vocabulary?: "bytes" | "characters";
}

/** ChatML as models carry it. */
export const chatMlTemplate =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

const width = 64;
const inner = 128;
const layers = 2;
const heads = 4;
const keyWidth = 32;
const controls = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const alignment = 32;

/** Writes the model to a file. */
export function writeRandomModel(path: string, options: RandomModelOptions = {}): void {
  writeFileSync(path, randomModel(options));
}

/** The bytes of the model. */
export function randomModel(options: RandomModelOptions = {}): Buffer {
  const { seed = 1, chatTemplate = chatMlTemplate } = options;
  const { tokens, merges } = options.vocabulary === "bytes" ? bytes() : characters();
  const vocabulary = [...tokens, ...controls];
  const tensors = tensorShapes(vocabulary.length);
  const metadata = [
    entry("general.architecture", text("llama")),
    entry("general.name", text("random")),
    entry("llama.context_length", uint32(4096)),
    entry("llama.embedding_length", uint32(width)),
    entry("llama.block_count", uint32(layers)),
    entry("llama.feed_forward_length", uint32(inner)),
    entry("llama.attention.head_count", uint32(heads)),
    entry("llama.attention.head_count_kv", uint32((heads * keyWidth) / width)),
    entry("llama.attention.layer_norm_rms_epsilon", float32(1e-5)),
    entry("llama.rope.dimension_count", uint32(width / heads)),
    entry("tokenizer.ggml.model", text("gpt2")),
    entry("tokenizer.ggml.pre", text("gpt-2")),
    entry("tokenizer.ggml.tokens", array(vocabulary.map(text), 8)),
    entry(
      "tokenizer.ggml.token_type",
      array(
        vocabulary.map((_, id) => int32(id < tokens.length ? 1 : 3)),
        5,
      ),
    ),
    entry("tokenizer.ggml.merges", array(merges.map(text), 8)),
    entry("tokenizer.ggml.bos_token_id", uint32(tokens.length)),
    entry("tokenizer.ggml.eos_token_id", uint32(tokens.length + 2)),
    entry("tokenizer.ggml.add_bos_token", { type: 7, bytes: Buffer.from([0]) }),
    ...(chatTemplate === null ? [] : [entry("tokenizer.chat_template", text(chatTemplate))]),
  ];
  const infos: Buffer[] = [];
  let offset = 0;
  for (const { name, shape } of tensors) {
    const dimensions = shape.map((size) => uint64(size));
    infos.push(text(name).bytes, uint32(shape.length).bytes, ...dimensions, uint32(0).bytes, uint64(offset));
    offset += padded(product(shape) * 4);
  }
  const head = [
    Buffer.from("GGUF"),
    uint32(3).bytes,
    uint64(tensors.length),
    uint64(metadata.length),
    ...metadata,
    ...infos,
  ];
  const header = Buffer.concat(head);
  const random = randomNumbers(seed);
  const body = tensors.map(({ name, shape }) => {
    const bytes = Buffer.alloc(padded(product(shape) * 4));
    for (let index = 0; index < product(shape); index += 1) {
      bytes.writeFloatLE(name.includes("norm") ? 1 : (random() - 0.5) * 0.5, index * 4);
    }
    return bytes;
  });
  return Buffer.concat([header, Buffer.alloc(padded(header.length) - header.length), ...body]);
}

interface Value {
  readonly type: number;
  readonly bytes: Buffer;
}

function tensorShapes(
  vocabularySize: number,
): readonly { readonly name: string; readonly shape: readonly number[] }[] {
  const shapes = [
    { name: "token_embd.weight", shape: [width, vocabularySize] },
    { name: "output_norm.weight", shape: [width] },
  ];
  for (let layer = 0; layer < layers; layer += 1) {
    const add = (name: string, ...shape: number[]): number =>
      shapes.push({ name: `blk.${layer}.${name}.weight`, shape });
    add("attn_norm", width);
    add("attn_q", width, width);
    add("attn_k", width, keyWidth);
    add("attn_v", width, keyWidth);
    add("attn_output", width, width);
    add("ffn_norm", width);
    add("ffn_gate", width, inner);
    add("ffn_up", width, inner);
    add("ffn_down", inner, width);
  }
  return shapes;
}

interface Vocabulary {
  /** Texts in the letters of bytes. */
  readonly tokens: readonly string[];
  /** What is put together to one token, in order. */
  readonly merges: readonly string[];
}

function bytes(): Vocabulary {
  return { tokens: byteLetters(), merges: ["a b"] };
}

const foreign = "äöüßéèñçøåČłŞğİΩλπЖджשאعم日本語中文字한글กख€£°§«»–—“”…→✓½²😀🚀🎉👍";

function characters(): Vocabulary {
  const letters = byteLetters();
  const words = Array.from(foreign, (character) =>
    Array.from(Buffer.from(character), (byte) => letters[byte] ?? ""),
  );
  // Each character from its bytes, from the left.
  const merges = words.flatMap((word) =>
    word.slice(1).map((letter, index) => `${word.slice(0, index + 1).join("")} ${letter}`),
  );
  return {
    tokens: [...letters.slice(0, 128), ...words.map((word) => word.join(""))],
    merges: [...new Set(merges)],
  };
}

/** The letter that stands for each byte in byte-level vocabularies: printable bytes themselves, the others from U+0100 on. */
function byteLetters(): readonly string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(printable ? byte : next++);
  });
}

/** Mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function entry(key: string, value: Value): Buffer {
  return Buffer.concat([text(key).bytes, uint32(value.type).bytes, value.bytes]);
}

function array(values: readonly Value[], type: number): Value {
  return {
    type: 9,
    bytes: Buffer.concat([uint32(type).bytes, uint64(values.length), ...values.map((value) => value.bytes)]),
  };
}

function text(value: string): Value {
  const bytes = Buffer.from(value);
  return { type: 8, bytes: Buffer.concat([uint64(bytes.length), bytes]) };
}

function uint32(value: number): Value {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return { type: 4, bytes };
}

function int32(value: number): Value {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return { type: 5, bytes };
}

function float32(value: number): Value {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return { type: 6, bytes };
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function product(shape: readonly number[]): number {
  return shape.reduce((size, dimension) => size * dimension, 1);
}

function padded(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: "string", default: "1" }, bytes: { type: "boolean", default: false } },
  });
  const [path] = positionals;
  const seed = Number(values.seed);
  if (path === undefined || !Number.isSafeInteger(seed)) {
    console.error("Use: npx node tools/random-model.ts <file.gguf> [--seed n] [--bytes]");
    process.exitCode = 2;
  } else {
    writeRandomModel(path, { seed, vocabulary: values.bytes ? "bytes" : "characters" });
    console.log(`${path}: random weights of seed ${seed}`);
  }
}
