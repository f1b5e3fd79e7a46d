/**
 * Whether a provider says in an error that its model, or the way in which it was started, has no native tools: Ollama, vLLM, llama.cpp,
 * OpenRouter and hosted providers each have their own words for it.
 */
export function saysNoNativeTools(text: string): boolean {
  return patterns.some((pattern) => pattern.test(text));
}

const toolWords = "(?:tools?|tool[- ]?(?:use|calls?|calling)|function[- ]?(?:calls?|calling)|functions)";
const patterns: readonly RegExp[] = [
  new RegExp(`(?:not|n't) (?:currently )?support(?: for)? (?:the )?(?:use of )?["'\`]?${toolWords}`, "i"),
  new RegExp(`${toolWords}["'\`]? (?:is|are) (?:not|un)[- ]?(?:yet )?(?:supported|available)`, "i"),
  new RegExp(`no endpoints found that support ${toolWords}`, "i"),
  // llama.cpp without --jinja, its older versions, vLLM without a parser
  /tools param requires --jinja/i,
  /unsupported param: tools/i,
  /tool choice requires --enable-auto-tool-choice|requires --tool-call-parser/i,
];
