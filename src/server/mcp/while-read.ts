/**
 * Answers a request, and holds a place until the answer was read to its end or is no longer read. The place is taken before anything happens.
 *
 * @throws the errors of `take` and `answer`
 */
export async function whileRead(
  { signal }: Request,
  take: () => () => void,
  answer: () => Promise<Response>,
): Promise<Response> {
  const leave = take();
  try {
    return watched(await answer(), signal, leave);
  } catch (error) {
    leave();
    throw error;
  }
}

/** The answer, with a call of `onOver` when it was read to its end, or is no longer read. */
function watched(response: Response, signal: AbortSignal, onOver: () => void): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    onOver();
    return response;
  }
  const leave = (reason?: unknown): Promise<void> => {
    onOver();
    return reader.cancel(reason);
  };
  const gone = (): void => void leave().catch(() => undefined);
  signal.addEventListener("abort", gone);
  if (signal.aborted) gone();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value } = await reader.read().catch((error: unknown) => {
        onOver();
        throw error;
      });
      if (value !== undefined) return controller.enqueue(value);
      onOver();
      controller.close();
    },
    cancel: leave,
  });
  return new Response(body, response);
}
