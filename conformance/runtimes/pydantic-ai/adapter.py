"""Makes agents of Pydantic AI, and speaks to adapter.ts in lines of JSON: it is asked, and asks for the tools of the case, which live there."""
import asyncio
import json
import sys
import typing
import pydantic
import pydantic_ai as ai
import pydantic_ai.conversation as conversations
import pydantic_ai.models.fallback as fallback
import pydantic_ai.models.openai as models
import pydantic_ai.profiles.openai as profiles
import pydantic_ai.providers.openai as providers

waiting: dict[str, asyncio.Future[typing.Any]] = {}
say = lambda **line: print(json.dumps(line), flush=True)  # noqa: E731


def model_of(name: str, schema: dict[str, typing.Any]) -> type[pydantic.BaseModel]:
    plain = {'number': float, 'integer': int, 'string': str}
    kind = lambda one: typing.Literal[tuple(one['enum'])] if 'enum' in one else plain[one['type']]  # noqa: E731
    return pydantic.create_model(name, **{name: (kind(one), one.get('default', ...)) for name, one in schema['properties'].items()})


def tool_of(talk: str, tool: dict[str, typing.Any], sequential: bool) -> ai.Tool[typing.Any]:
    parameters = model_of(tool['name'], tool['jsonSchema'])

    async def run(ctx: ai.RunContext[typing.Any], arguments: parameters) -> typing.Any:  # type: ignore
        if tool['isClient']:
            raise ai.CallDeferred()
        key = str(len(waiting))
        waiting[key] = asyncio.get_running_loop().create_future()
        say(type='tool', key=key, talk=talk, name=tool['name'], arguments=arguments.model_dump_json())
        try:
            return await waiting[key]
        finally:
            say(type='left', key=key)

    timeout = tool['timeoutMs'] / 1000 if 'timeoutMs' in tool else None
    return ai.Tool(run, takes_ctx=True, name=tool['name'], description=tool['description'], requires_approval=tool['approval'], sequential=sequential, timeout=timeout)


def agent_of(setup: dict[str, typing.Any]) -> ai.Agent[typing.Any, typing.Any]:
    at = lambda url: models.OpenAIChatModel('mock', provider=providers.OpenAIProvider(base_url=url, api_key='key'), profile=profiles.OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True))  # noqa: E731
    model = fallback.FallbackModel(at(setup['address']), at(setup['fallback'])) if 'fallback' in setup else at(setup['address'])
    tools = [tool_of(setup['talk'], one, setup.get('orderedWrites', False)) for one in setup['tools']]
    allowed = ai.FunctionToolset(tools).filtered(lambda ctx, tool: ctx.deps is None or tool.name in ctx.deps)
    answer = model_of('Answer', setup['output']['jsonSchema']) if 'output' in setup else str
    settings = {'timeout': setup['modelTimeoutMs'] / 1000} if 'modelTimeoutMs' in setup else {}
    force = lambda ctx: {**settings, 'tool_choice': 'required'} if setup.get('forcedCall') and ctx.run_step <= 1 else settings  # noqa: E731
    return ai.Agent(model, instructions=setup['instructions'], toolsets=[allowed], output_type=[answer, ai.DeferredToolRequests], model_settings=force)


class Talk:
    def __init__(self, setup: dict[str, typing.Any]):
        self.agent, self.conversation, self.tokens = agent_of(setup), ai.Conversation(), {}
        limits = {'request_limit': setup.get('maxTurns'), 'tool_calls_limit': setup.get('maxCalls'), 'total_tokens_limit': setup.get('maxTokens')}
        self.limits = ai.UsageLimits(**{name: limit for name, limit in limits.items() if limit is not None})

    def end_of(self, result: ai.AgentRunResult[typing.Any]) -> dict[str, typing.Any]:
        self.conversation, output = result.conversation, result.output
        if not isinstance(output, ai.DeferredToolRequests):
            return {'text': str(output), 'output': output if isinstance(output, str) else output.model_dump(), 'ended': result.response.finish_reason or 'stop'}
        asked = [(one, False) for one in output.approvals] + [(one, True) for one in output.calls]
        questions = [{'id': one.tool_call_id, 'tool': one.tool_name, 'arguments': one.args_as_dict(), 'isClient': client} for one, client in asked]
        kept = json.dumps({'questions': questions, 'conversation': conversations.ConversationTypeAdapter.dump_python(result.conversation, mode='json')})
        return {'text': '', 'ended': 'waiting', 'questions': questions, 'kept': kept}

    async def go(self, id: str, op: str, message: str | None = None, only: list[str] | None = None, kept: str | None = None, decisions: list[dict[str, typing.Any]] = []) -> None:
        conversation = self.conversation if kept is None else conversations.ConversationTypeAdapter.validate_python(json.loads(kept)['conversation'])
        verdict = lambda one: ai.ToolApproved(override_args=one.get('arguments')) if one['approved'] else False  # noqa: E731
        results = ai.DeferredToolResults(approvals={one['id']: verdict(one) for one in decisions if 'result' not in one}, calls={one['id']: one['result'] for one in decisions if 'result' in one})
        options: dict[str, typing.Any] = {'conversation': conversation, 'deps': only, 'usage_limits': self.limits, 'cancellation_token': self.tokens[id], 'deferred_tool_results': results if kept is not None else None}
        try:
            if op != 'stream':
                return say(type='end', id=id, end=self.end_of(await self.agent.run(message, **options)))
            async with self.agent.run_stream_events(message, **options) as events:
                async for event in events:
                    if isinstance(event, ai.PartStartEvent) and isinstance(event.part, ai.TextPart):
                        say(type='piece', id=id, text=event.part.content)
                    if isinstance(event, ai.PartDeltaEvent) and isinstance(event.delta, ai.TextPartDelta):
                        say(type='piece', id=id, text=event.delta.content_delta)
                    if isinstance(event, ai.AgentRunResultEvent):
                        say(type='end', id=id, end=self.end_of(event.result))
        except BaseException as error:
            say(type='threw', id=id, message=f'{type(error).__name__}: {error}')


async def main() -> None:
    reader = asyncio.StreamReader(limit=2**26)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    talks, running = {}, set()
    say(type='ready')
    while line := await reader.readline():
        asked = json.loads(line)
        if asked['op'] == 'begin':
            talks[asked['talk']] = Talk(asked)
        elif asked['op'] == 'cancel':
            talks[asked['talk']].tokens[asked['id']].cancel()
        elif asked['op'] == 'result':
            if not (future := waiting[asked['key']]).done():
                future.set_exception(ai.ToolFailed(asked['error'])) if 'error' in asked else future.set_result(asked.get('value'))
        else:
            talk = talks[asked.pop('talk')]
            talk.tokens[asked['id']] = ai.CancellationToken()
            running.add(asyncio.ensure_future(talk.go(**asked)))


asyncio.run(main())
