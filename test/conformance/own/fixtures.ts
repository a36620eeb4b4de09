// Answers of a Responses provider with everything that only this format has: written from the
// vendor's published types, which the compiler holds them to (not recorded from a provider).
import { annotations, hosted, others } from './hosted.ts';
import {
  type Fixture,
  fixture,
  type Logprob,
  message,
  reasoning,
  streamedCall,
  textPart,
} from './pieces.ts';

function logprob(token: string, value: number): Logprob {
  const bytes = [...Buffer.from(token)];
  return { token, bytes, logprob: value, top_logprobs: [{ token, bytes, logprob: value }] };
}

const messages: Fixture[] = [
  fixture(
    'logprobs of a text, with every delta and at its ends',
    message('msg_1', [
      textPart('hi there', { logprobs: [logprob('hi t', -0.1), logprob('here', -2)] }),
    ]),
  ),
  fixture(
    'annotations of every kind',
    message('msg_1', [textPart('see these files', { annotations })]),
  ),
  fixture(
    'two messages in their phases, of several parts, one of them empty',
    message('msg_1', [textPart('I look.')], { phase: 'commentary' }),
    message(
      'msg_2',
      [
        textPart('First.', { annotations: annotations.slice(1, 3) }),
        textPart('Second.', { annotations: annotations.slice(0, 2) }),
        textPart(''),
        { type: 'refusal', refusal: 'Not that.' },
      ],
      { phase: 'final_answer' },
    ),
  ),
  fixture('a message without parts', message('msg_1', []), message('msg_2', [textPart('So.')])),
];

const thoughts: Fixture[] = [
  fixture(
    'reasoning in several parts, in two items',
    reasoning('rs_1', ['**One** of it', '**Two** of it', '**Three**']),
    reasoning('rs_2', ['**More**']),
    message('msg_1', [textPart('So.')]),
  ),
  fixture(
    'reasoning that is shown itself, and reasoning that is not shown',
    reasoning('rs_1', [], ['I think', 'and think']),
    reasoning('rs_2', []),
    message('msg_1', [textPart('So.')]),
  ),
];

const calls: Fixture[] = [
  fixture(
    'custom tools and functions, called in parallel',
    streamedCall(
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'grep', input: 'a "b"\n' },
      'input',
      'response.custom_tool_call_input',
    ),
    streamedCall(
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_2',
        name: 'find',
        arguments: '{"city":"Zürich"}',
        status: 'completed',
      },
      'arguments',
      'response.function_call_arguments',
      { begun: { status: 'in_progress' } },
    ),
    streamedCall(
      {
        type: 'function_call',
        id: 'fc_2',
        call_id: 'call_3',
        name: 'list',
        namespace: 'files',
        arguments: '{"all":true}',
        status: 'completed',
        caller: { type: 'direct' },
      },
      'arguments',
      'response.function_call_arguments',
      { begun: { status: 'in_progress' } },
    ),
  ),
];

export const fixtures: readonly Fixture[] = [
  ...messages,
  ...thoughts,
  ...calls,
  ...hosted,
  ...others,
];
