// The protocol of a voice session in words: OpenAPI has no form for what goes over a WebSocket, and
// clients have no other place to read it (specification, 2.1 and 6.1; decisions.md, section 4).

const startExample = {
  type: 'start',
  mode: 'full',
  voice_id: 'alloy',
  context: [{ role: 'user', content: 'My name is Ada.' }],
  client_context: { timezone: 'Europe/Berlin', locale: 'de-DE' },
};

const start = `
**Start.** The first message, within 5 seconds and of at most 32 KiB. No other members are taken.

\`\`\`json
${JSON.stringify(startExample, null, 2)}
\`\`\`

| Member | What it is |
| --- | --- |
| \`type\`, \`mode\` | \`start\` and \`full\` |
| \`voice_id\` | needed: an id of \`GET /v1/voice/voices\` |
| \`context\` | what was said before, oldest first: at most 40 messages of \`role\` (\`user\` or \
\`assistant\`) and \`content\` (not blank, at most 4,000 characters), 24,000 characters in all \
unless the operator says otherwise |
| \`tools_enabled\` | \`false\` if absent; \`true\`: the server may use its own tools |
| \`client_context\` | \`timezone\` (100 characters), \`utc_offset_minutes\` (-840 to 840), \
\`locale\` (40), \`temperature_unit\` (\`celsius\`, \`fahrenheit\` or empty); no control \
characters |
| \`continuation_token\` | that of the last \`session.ready\`, for about ten minutes, with the \
same account and voice; history comes in \`context\` |
`;

const after = `
**Later.** \`{"type":"barge_in"}\` stops what is heard, and is always answered by \
\`playback.clear\`; \`{"type":"end"}\` ends the session. Three messages that are none of these are \
told, the fourth ends it.

**Audio.** PCM of 16 bits, signed, little-endian, one channel: 16,000 Hz up in frames of exactly \
1,024 bytes, of which the last before \`end\` may be shorter; 24,000 Hz down. Of what comes before \
\`session.ready\` 2 seconds are kept.
`;

const events = `
| Event | Members beside \`type\` |
| --- | --- |
| \`session.ready\` | \`protocol\`, \`session_id\`, \`mode\`, \`model\`, \`voice_id\`, \
\`continuation_token\`, \`input_audio\`, \`output_audio\`, \`max_duration_seconds\` |
| \`status\` | \`state\`: \`connecting\`, \`listening\`, \`thinking\` or \`speaking\` |
| \`transcript\` | \`role\`, \`text\`, \`final\`, \`delta\`: with \`delta\` the text goes on, a \
\`final\` one stands for all of its utterance |
| \`playback.clear\` | drop what is not played yet |
| \`tool\` | \`id\`, \`name\`, \`state\`: \`started\`, \`completed\` or \`failed\` |
| \`error\` | \`code\`, \`message\`, \`retryable\`, \`fatal\`; a fatal one before \
\`session.ready\` is the last, and the connection closes with 1008 |
| \`session.ended\` | \`reason\`, \`renewable\`, \`reconnect\` (the same, deprecated), \`usage\` \
in tokens, \`billing_units\` in millions of tokens; no receipt |

Codes of errors: \`invalid_start\`, \`unknown_voice\`, \`insufficient_credits\`, \
\`invalid_continuation\`, \`start_timeout\`, \`invalid_message\`, \`frame_rate_exceeded\`, \
\`slow_consumer\`, \`unauthenticated\`, \`upstream_error\`, \`internal\`.

Reasons of the end, each with the code that closes the connection: \`client_end\`, \
\`idle_timeout\`, \`credits_exhausted\` (1000); \`max_duration\` (1000, renewable); \
\`server_draining\` (1012, renewable); \`upstream_closed\` (1011, renewable); \`error\` (1011).
`;

/** For the description of the route, in Markdown. */
export const voiceProtocolText = start + after + events;
