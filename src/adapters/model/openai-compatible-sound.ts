import { Buffer } from "node:buffer";
import type { Delta } from "../../model/model.ts";
import { asObject, type Json } from "../../util/json.ts";

/** Reads the sound of a reply: its transcript as text, and its data as one file. */
export interface SoundReader {
  read(audio: Json | undefined): readonly Delta[];
  /** Returns the file, which is known only when the reply is whole. */
  end(): readonly Delta[];
}

/** Reads sound in OpenAI's form, whole or in pieces, each of which is base64 of its own. */
export function soundReader(): SoundReader {
  const pieces: string[] = [];
  return {
    read(audio) {
      const { data, transcript } = asObject(audio);
      if (typeof data === "string" && data !== "") pieces.push(data);
      return typeof transcript === "string" && transcript !== ""
        ? [{ type: "text-delta", text: transcript }]
        : [];
    },
    end() {
      const data = joined(pieces);
      if (data === "") return [];
      return [{ type: "file", part: { type: "file", mediaType: soundTypeOf(data), data } }];
    },
  };
}

function joined(pieces: readonly string[]): string {
  const [only = "", ...others] = pieces;
  if (others.length === 0) return only;
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64"))).toString("base64");
}

/** The first letters of sounds in base64. Streams of OpenAI have no header: they have 16 bits per sample, 24 000 per second. */
const sounds: readonly (readonly [type: string, start: RegExp])[] = [
  ["audio/wav", /^UklGR/],
  ["audio/mpeg", /^(?:SUQz|\/[/+])/],
  ["audio/ogg", /^T2dnU/],
  ["audio/flac", /^ZkxhQ/],
];

function soundTypeOf(data: string): string {
  return sounds.find(([, start]) => start.test(data))?.[0] ?? "audio/L16;codec=pcm;rate=24000";
}
