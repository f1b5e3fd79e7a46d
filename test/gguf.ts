import { writeFileSync } from "node:fs";

/**
 * A model of random weights in the GGUF format, version 3: llama architecture, a vocabulary of the 256 bytes and the three control tokens of
 * ChatML. About 430 kB. It writes nonsense, but through the whole of llama.cpp: tokenizer, template, cache, grammar, sampling.
 */
export interface TinyModelOptions {
  /** The same seed gives the same file. Default 1. */
  readonly seed?: number;
  /** The Jinja template in the metadata; `null` writes none. Default: ChatML. */
  readonly chatTemplate?: string | null;
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
export function writeTinyModel(path: string, options: TinyModelOptions = {}): void {
  writeFileSync(path, tinyModel(options));
}

/** The bytes of the model. */
export function tinyModel(options: TinyModelOptions = {}): Buffer {
  const { seed = 1, chatTemplate = chatMlTemplate } = options;
  const vocabulary = [...byteLetters(), ...controls];
  const tensors = tensorShapes(vocabulary.length);
  const metadata = [
    entry("general.architecture", text("llama")),
    entry("general.name", text("tiny random")),
    entry("llama.context_length", uint32(2048)),
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
        vocabulary.map((_, id) => int32(id < 256 ? 1 : 3)),
        5,
      ),
    ),
    entry("tokenizer.ggml.merges", array([text("a b")], 8)),
    entry("tokenizer.ggml.bos_token_id", uint32(256)),
    entry("tokenizer.ggml.eos_token_id", uint32(258)),
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
