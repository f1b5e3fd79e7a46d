import { isAddress } from "../../util/media.ts";
import type { FilePart } from "../../message/message.ts";
import type { FilePlace, TakesFiles } from "../../message/place-files.ts";
import type { AiSdkVersion } from "./ai-sdk-prompt.ts";

/** True for a file that a provider takes, as its package sends it. The package refuses requests with others, or drops them. */
type Takes = (file: FilePart, version: AiSdkVersion) => boolean;

const isPicture: Takes = ({ mediaType }) => mediaType.startsWith("image/");
const isPdf: Takes = ({ mediaType }) => mediaType === "application/pdf";
const isSound: Takes = ({ mediaType }) => /^audio\/(?:wav|x-wav|mpeg|mp3)$/.test(mediaType);
/** True for a file with its data: V2 has no addresses in results; V4 does, and a `data:` address is sent as its data. */
const isAtHand: Takes = ({ data }) => !isAddress(data) || /^data:[^,]*;base64,/i.test(data);

interface Kind {
  readonly provider: RegExp;
  readonly place: FilePlace;
  readonly takes: Takes;
}

/** The kinds of providers; the first that fits counts. Packages with other names take at most pictures, from users. */
const kinds: readonly Kind[] = [
  {
    provider: /anthropic|bedrock/,
    place: "inside",
    takes: (file, version) =>
      isPicture(file, version)
        ? version !== "v2" || isAtHand(file, version)
        : isPdf(file, version) && isAtHand(file, version),
  },
  { provider: /google|vertex/, place: "inside", takes: isAtHand },
  {
    provider: /\.responses$/,
    place: "inside",
    takes: (file, version) => version !== "v2" || isAtHand(file, version),
  },
  { provider: /^deepseek\b/, place: "none", takes: () => false },
  {
    provider: /openai/,
    place: "after",
    takes: (file, version) =>
      isPicture(file, version) ||
      ((isPdf(file, version) || isSound(file, version)) && isAtHand(file, version)),
  },
];

const others: Omit<Kind, "provider"> = { place: "after", takes: isPicture };

/** The handling of files of results by a provider. `place`: the author's choice, which overrides the known one. */
export function filesOf(provider: string, version: AiSdkVersion, place?: FilePlace): TakesFiles {
  const kind = kinds.find((each) => each.provider.test(provider)) ?? others;
  return { place: place ?? kind.place, takes: (file) => kind.takes(file, version) };
}
