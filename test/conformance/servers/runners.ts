// Runners of open models, which operators run themselves: vLLM, SGLang, llama.cpp and Ollama.
import {
  called,
  type Members,
  type ServerRow,
  thinking,
  thought,
  thoughts,
  wantsBack,
} from './row.ts';

const begun = 'data: {"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const done = 'data: [DONE]\n\n';

/** A stream whose answer ends with this. */
function ended(finish_reason: unknown, first = begun): string {
  const chunk = { id: 'x', choices: [{ index: 0, delta: {}, finish_reason }] };
  return `${first}data: ${JSON.stringify(chunk)}\n\n${done}`;
}

/** A stream that has nothing but an error. */
function failed(error: Members, beside: Members = {}): string {
  return `data: ${JSON.stringify({ error, ...beside })}\n\n${done}`;
}

const overflow = '400 context_length_exceeded messages';
const providerFails = '502 upstream_error';

/** The older form of both servers: members of the error stand at the top. */
const flat = (message: string, type = 'BadRequestError', code = 400) => ({
  object: 'error',
  message,
  type,
  param: null,
  code,
});

const vllm: ServerRow = {
  name: 'vllm',
  source: 'https://docs.vllm.ai/en/latest/features/reasoning_outputs/',
  // Its older name of the thoughts stands beside the newer one.
  deltas: [
    { role: 'assistant', content: '' },
    ...thoughts.map((text) => ({ reasoning: text, reasoning_content: text })),
    ...called({}, ['{"at":', '"sea"}'], `chatcmpl-tool-${'0123456789abcdef'.repeat(2)}`),
  ],
  wants: ({ reasoning, reasoning_content: former }) =>
    (reasoning ?? former) === thought ? null : 'the reasoning differs',
  error: (message) => flat(message),
  shown: thought,
  end: { choice: { stop_reason: 151_645, token_ids: null } },
  says: [
    {
      status: 400,
      body: flat(
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
      ),
      told: overflow,
    },
    {
      status: 400,
      body: {
        error: {
          message:
            'You passed 5000 input tokens and requested 100 output tokens. However, the ' +
            "model's context length is only 4096 tokens, resulting in a maximum input length " +
            'of 3996 tokens.',
          type: 'BadRequestError',
          param: 'input_tokens',
          code: 400,
        },
      },
      told: overflow,
    },
    {
      status: 400,
      body: flat(
        'The decoder prompt (length 10127) is longer than the maximum model length of 8192.',
      ),
      told: overflow,
    },
    {
      status: 404,
      body: flat('The model `thinker` does not exist.', 'NotFoundError', 404),
      told: providerFails,
    },
    {
      status: 200,
      body: begun + failed({ message: 'EngineCore died', type: 'InternalServerError', code: 500 }),
      told: providerFails,
    },
    {
      status: 200,
      body: failed({ message: 'bad', type: 'BadRequestError', param: 'temperature', code: 400 }),
      told: '400 invalid_request temperature',
    },
    { status: 200, body: ended('abort'), told: providerFails },
    { status: 200, body: ended('repetition'), told: 'length' },
  ],
};

const sglang: ServerRow = {
  name: 'sglang',
  source: 'https://github.com/sgl-project/sglang/tree/main/python/sglang/srt/entrypoints/openai',
  // All members stand in every delta.
  deltas: [
    { role: 'assistant', content: '', reasoning_content: null, tool_calls: null },
    ...thinking('reasoning_content').map((delta) => ({
      role: null,
      content: null,
      ...delta,
      tool_calls: null,
    })),
    ...called({}, ['', '{"at":', '"sea"}'], 'call_0123456789abcdef01234567').map((delta) => ({
      role: null,
      content: null,
      reasoning_content: null,
      ...delta,
    })),
  ],
  wants: wantsBack('reasoning_content', thought, 'the reasoning differs'),
  error: (message) => flat(message),
  shown: thought,
  end: {
    choice: { matched_stop: 151_645, hidden_states: null },
    chunk: {
      usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16, reasoning_tokens: 4 },
    },
  },
  says: [
    {
      status: 400,
      body: flat(
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
      ),
      told: overflow,
    },
    {
      status: 400,
      body: flat(
        "Requested token count exceeds the model's maximum context length of 8192 tokens.",
      ),
      told: overflow,
    },
    {
      status: 503,
      body: flat('The request queue is full.', 'SERVICE_UNAVAILABLE', 503),
      told: providerFails,
    },
    {
      status: 200,
      body: begun + failed({ object: 'error', message: 'out of memory', type: 'x', code: 500 }),
      told: providerFails,
    },
    { status: 200, body: ended('abort'), told: providerFails },
    // As its own interface has them, and routers in front of it pass them on.
    { status: 200, body: ended({ type: 'abort', message: 'out of memory' }), told: providerFails },
    { status: 200, body: ended({ type: 'length', length: 16 }), told: 'length' },
    { status: 200, body: ended({ type: 'stop', matched: 151_645 }), told: 'stop' },
  ],
};

const tooLong = {
  message: 'the request is too long: try increasing the context size',
  type: 'exceed_context_size_error',
  n_prompt_tokens: 1407,
  n_ctx: 256,
};

const llamaCpp: ServerRow = {
  name: 'llama.cpp',
  source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
  deltas: [
    { role: 'assistant', content: null },
    ...thinking('reasoning_content'),
    ...called({}, ['{', '"at":', '"sea"}'], 'Xq3vJk0ZbT7mWd5RfLh2cYs8NgPe1AuK'),
  ],
  wants: wantsBack('reasoning_content', thought, 'the reasoning differs'),
  error: (message) => ({ error: { code: 400, message, type: 'invalid_request_error' } }),
  shown: thought,
  end: { chunk: { timings: { prompt_n: 7, predicted_n: 9, predicted_per_second: 51.2 } } },
  says: [
    { status: 400, body: { error: { code: 400, ...tooLong } }, told: overflow },
    // Older builds gave it the code of any fault, or the status of an answer.
    { status: 500, body: { error: { code: 500, ...tooLong } }, told: overflow },
    { status: 200, body: { error: { code: 400, ...tooLong } }, told: overflow },
    { status: 200, body: failed({ code: 400, ...tooLong }), told: overflow },
    {
      // Older builds name the field after the error.
      status: 200,
      body: `error: ${JSON.stringify({ code: 500, ...tooLong })}\n\n`,
      told: overflow,
    },
    {
      status: 200,
      body: `${begun}error: {"code":500,"message":"oops","type":"server_error"}\n\n`,
      told: providerFails,
    },
    {
      status: 503,
      body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
      told: providerFails,
    },
    {
      status: 500,
      body: {
        error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' },
      },
      told: providerFails,
    },
    {
      status: 501,
      body: { error: { code: 501, message: 'not here', type: 'not_supported_error' } },
      told: providerFails,
    },
  ],
};

const fault = (message: string, type: string) => ({
  error: { message, type, param: null, code: null },
});

/** It counts all calls of an answer as the first. */
const wholeCall = (id: string, at: string) => ({
  id,
  index: 0,
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ at }) },
});

function ollamaFault({ messages }: Members): string | null {
  for (const { content, tool_calls: calls } of messages as Members[]) {
    if (Array.isArray(content)) {
      const isKnown = (content as Members[]).every(({ type }) =>
        /^(text|image_url)$/.test(`${type}`),
      );
      if (!isKnown) return 'invalid message format';
    } else if (typeof content !== 'string' && calls === undefined) {
      return 'invalid message content type: <nil>';
    }
  }
  return null;
}

const ollama: ServerRow = {
  name: 'ollama',
  source: 'https://github.com/ollama/ollama/blob/main/openai/openai.go',
  deltas: [
    ...thoughts.map((text) => ({ role: 'assistant', content: '', reasoning: text })),
    { role: 'assistant', content: '', tool_calls: [wholeCall('call_8h3kd02x', 'sea')] },
    { role: 'assistant', content: '', tool_calls: [wholeCall('call_p1v94mzq', 'land')] },
  ],
  wants: ({ reasoning, tool_calls: calls }) => {
    const ids = Array.isArray(calls) ? (calls as Members[]).map(({ id }) => id) : [];
    const isWhole = reasoning === thought && ids.join() === 'call_8h3kd02x,call_p1v94mzq';
    return isWhole ? null : 'the turn differs';
  },
  refuses: ollamaFault,
  error: (message) => fault(message, 'invalid_request_error'),
  shown: thought,
  isUsageAsked: true,
  says: [
    {
      status: 400,
      body: fault('prompt too long; exceeded max context length by 100 tokens', 'api_error'),
      told: overflow,
    },
    {
      status: 400,
      body: fault('"thinker" does not support thinking', 'invalid_request_error'),
      told: '400 invalid_request',
    },
    {
      status: 404,
      body: fault('model "thinker" not found, try pulling it first', 'not_found_error'),
      told: providerFails,
    },
    {
      status: 500,
      body: fault('llama runner process has terminated: exit status 2', 'api_error'),
      told: providerFails,
    },
    // It loaded the model, and said nothing.
    { status: 200, body: ended('load', ''), told: providerFails },
    { status: 200, body: ended('unload', ''), told: providerFails },
    // An error in a stream becomes a chunk without words, and nothing follows.
    {
      status: 200,
      body: `${begun}data: {"id":"x","choices":[{"index":0,"delta":{"role":"","content":""}}]}\n\n`,
      told: providerFails,
    },
  ],
};

export const runners: readonly ServerRow[] = [vllm, sglang, llamaCpp, ollama];
