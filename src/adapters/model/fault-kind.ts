import type { ProviderFault } from "./provider-fault.ts";

/**
 * The kind of a fault.
 *
 * - `context`: the request is longer than the model allows.
 * - `quota`: the account has no credit left; `rate`: it sends too many requests.
 * - `key`: the credentials are refused.
 * - `model`: the provider has no such model.
 * - `mistake`: the model wrote a call that the provider could not read.
 */
export type FaultKind = "context" | "quota" | "rate" | "key" | "model" | "mistake" | "other";

/** Finds the kind of a fault, by the provider's names for it, or by its text if it has no name. */
export function kindOf(fault: ProviderFault): FaultKind {
  const { status, written } = fault;
  if (written !== undefined || isNamed(fault, mistakes) || says(fault, badCall)) return "mistake";
  if (isTooLong(fault)) return "context";
  if (
    status === 402 ||
    isNamed(fault, quotas) ||
    (!isNamed(fault, /^RESOURCE_EXHAUSTED$/) && says(fault, noCredit))
  )
    return "quota";
  if (status === 429 || isNamed(fault, rates)) return "rate";
  if (status === 401 || isNamed(fault, keys) || says(fault, badKey) || isForbidden(fault)) return "key";
  return isUnknownModel(fault) ? "model" : "other";
}

function isNamed({ names }: ProviderFault, pattern: RegExp): boolean {
  return names.some((name) => pattern.test(name));
}

function says({ message }: ProviderFault, pattern: RegExp): boolean {
  return pattern.test(message);
}

const mistakes = /^(?:tool_use_failed|output_parse_failed|json_validate_failed)$/;
const badCall = /failed_generation|^Tool call validation failed/; // some packages drop the names
const quotas =
  /^(?:insufficient_quota|insufficient_balance|insufficient_credits|credit_limit|billing_error|billing_not_active|billing_hard_limit_reached|payment_required|exceeded_current_quota_error)$/;
const noCredit =
  /insufficient (?:quota|balance|credits?|funds)|credit balance is too low|(?:used all available|out of|no|more) credits\b|(?:spending|credit|billing hard) limit|enable billing/i;
const rates = /^(?:rate_limit\w*|too_many_requests|RESOURCE_EXHAUSTED|ThrottlingException)$/;
const keys = /^(?:invalid_api_key|authentication_error|API_KEY_INVALID|UNAUTHENTICATED)$/;
const badKey =
  /\b(?:incorrect|invalid) api[ _-]?key|\bapi[ _-]?key (?:is )?(?:not valid|invalid|expired|not found)/i;

/** True if a provider refuses the key with 403, and not a country or a right, for which it also uses 403. A page comes from a proxy. */
function isForbidden(fault: ProviderFault): boolean {
  const isOther = says(fault, aPage) || says(fault, otherReasons) || isNamed(fault, otherReasons);
  return fault.status === 403 && !isOther;
}

const aPage = /<html|a web page/i;

const otherReasons =
  /region|countr|territor|location|permission|not allowed|polic(?:y|ies)|moderat|flagged|network|(?:access|support) (?:to|for) (?:the|this) model/i;

const tooLongNames =
  /^(?:context_length_exceeded|context_window_exceeded|exceed_context_size_error|model_max_prompt_tokens_exceeded|request_too_large)$/;

const tooLongWords: readonly RegExp[] = [
  /maximum (?:context|prompt|model|input) length/i,
  /(?:prompt|input|request) (?:is )?too long/i,
  /context (?:length|window|size|limit)[^.]*\b(?:exceed|too|only|overflow)|exceed[^.]*\bcontext (?:length|window|size|limit)/i,
  /exceeds? the maximum number of tokens|exceeded model token limit|exceeds max length|maximum allowed length/i,
  /longer than the (?:model's|maximum)|too large for model with/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /too many tokens: |tokens in request more than max|tokens? must be <=|must have less than \d+ tokens/i,
];

function isTooLong(fault: ProviderFault): boolean {
  if (isNamed(fault, tooLongNames)) return true;
  if (fault.status === 429 || isNamed(fault, rates)) return false; // the tokens of a minute
  return fault.status === 413 || tooLongWords.some((pattern) => says(fault, pattern));
}

/** True for an unknown model. A server answers a wrong path with 404 too, but then does not mention a model. */
function isUnknownModel(fault: ProviderFault): boolean {
  const { status } = fault;
  if (isNamed(fault, /^(?:model_not_found|invalid_model|ModelNotFound)$/)) return true;
  if (status === 404)
    return says(fault, /\bmodels?\b/i) && !says(fault, /\bURL\b|\b(?:POST|GET)\b/i) && !says(fault, aPage);
  return (
    status === 400 &&
    says(fault, /\bmodel\b.*(?:not found|not exist)|is not a valid model|\binvalid model\b/i)
  );
}

/** True for a fault that may not recur: too many requests, too slow, or broken. Without a status, its name decides. */
export function mayPass(fault: ProviderFault): boolean {
  const { status } = fault;
  if (fault.isLasting === true || says(fault, /must be reduced|request too large/i)) return false;
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  return !isNamed(fault, /^invalid_|not_found|permission|unsupported|content_policy/i);
}
