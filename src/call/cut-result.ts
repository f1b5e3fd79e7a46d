import { bytesOf } from "../message/file-part.ts";
import type { FilePart, ToolResult } from "../message/message.ts";
import { defaultFileBytes, defaultResultBytes } from "../policy/account/budget.ts";
import { beginning, isReader, readResult, restText } from "../tool/read-result.ts";
import { toldBy } from "../tool/result.ts";
import type { CallRecord, OngoingCall } from "./call.ts";

/** A result as a model sees it, and the number of bytes after which it was cut, if the model can read on. */
type Cut = Pick<CallRecord, "result" | "cut">;

/**
 * A result within its bytes: as much of its text as fits, then the files that fit. By default files have a limit of their own.
 */
export function cutResult(result: ToolResult, work: OngoingCall): Cut {
  const { resultBytes } = work.at.batch.run.limits;
  const { files, text } = result;
  const shown: Cut = text.length * 3 <= resultBytes ? { result } : cutText(result, work);
  if (files === undefined) return shown;
  const fileBytes = resultBytes === defaultResultBytes ? defaultFileBytes : resultBytes;
  return { ...shown, result: cutFiles(shown.result, files, fileBytes) };
}

/** Cuts the text. The value stays whole, or is the whole text where there was none: the model reads the rest from it. */
function cutText(result: ToolResult, { at, ready }: OngoingCall): Cut {
  const { run, gate } = at.batch;
  const { resultBytes } = run.limits;
  const { text } = result;
  if (isReader(ready.tool)) return { result };
  const { text: shown, bytes } = beginning(text, resultBytes);
  if (shown.length >= text.length) return { result };
  const cut = `${shown}\n[cut off: the first ${bytes} bytes of a longer result]`;
  const { tools, before = tools } = gate.allowed;
  const own = before.get(readResult);
  const isNobodys = run.isProgram === true || run.executor !== undefined;
  const isAnothers = own !== undefined && !isReader(own);
  const told = isNobodys || isAnothers ? undefined : toldBy(result);
  if (told === undefined || shown.length >= told.length) return { result: { ...result, text: cut } };
  const rest = restText(ready.call.id, { from: shown.length, length: told.length });
  return { result: { ...result, value: told.value, text: `${cut}\n${rest}` }, cut: resultBytes };
}

function cutFiles(result: ToolResult, files: readonly FilePart[], maxBytes: number): ToolResult {
  let room = maxBytes;
  const kept = files.filter((file) => {
    const bytes = bytesOf(file) ?? 0;
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  if (kept.length === files.length) return result;
  const { files: _files, ...rest } = result;
  const told = {
    ...rest,
    text: `${rest.text}\n[left out: ${files.length - kept.length} of ${files.length} files, too long]`,
  };
  return kept.length === 0 ? told : { ...told, files: kept };
}
