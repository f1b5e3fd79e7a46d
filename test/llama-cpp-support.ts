import { openRuntime } from "../src/adapters/model/llama-cpp-runtime.ts";
import { messageOf } from "../src/error/writ-error.ts";

/** Why llama.cpp cannot run on this machine, printed as well; undefined when it can. */
export async function llamaCppMissing(): Promise<string | undefined> {
  try {
    await openRuntime({ gpu: false });
    return undefined;
  } catch (error) {
    const reason = messageOf(error);
    console.log(`The tests of the embedded model are skipped: ${reason}`);
    return reason;
  }
}
