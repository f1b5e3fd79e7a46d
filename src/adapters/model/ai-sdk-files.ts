import { isAddress } from "../../util/media.ts";
import type { FilePart } from "../../message/message.ts";
import type { FilePlace, TakesFiles } from "../../message/place-files.ts";
import type { AiSdkVersion } from "./ai-sdk-prompt.ts";

/** The files that a provider takes, as its package sends them. It refuses the request for others, or drops them. */
type Takes = (file: FilePart, version: AiSdkVersion) => boolean;

const isPicture: Takes = ({ mediaType }) => mediaType.startsWith("image/");
const isPdf: Takes = ({ mediaType }) => mediaType === "application/pdf";
const isSound: Takes = ({ mediaType }) => /^audio\/(?:wav|x-wav|mpeg|mp3)$/.test(mediaType);
/** V2 has no addresses in results; V4 does, and `data:` is none: it is given as its data. */
const isAtHand: Takes = ({ data }) => !isAddress(data) || /^data:[^,]*;base64,/i.test(data);

interface Kind {
  readonly provider: RegExp;
  readonly place: FilePlace;
  readonly takes: Takes;
}

/** The first that fits counts. Packages of other names take pictures from users, if anything. */
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

/** The ways of a provider with the files of results. `place`: the author's word, in the place of what is known here. */
export function filesOf(provider: string, version: AiSdkVersion, place?: FilePlace): TakesFiles {
  const kind = kinds.find((each) => each.provider.test(provider)) ?? others;
  return { place: place ?? kind.place, takes: (file) => kind.takes(file, version) };
}
