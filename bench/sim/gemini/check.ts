// What the real generateContent refuses and clients get wrong: unknown fields, roles, the numbers
// of calls and results, lost thought signatures. Each check answers the message, or null.
import { subsetFault } from '../functions.ts';
import { isMembers, type Members, membersOf, stringsOf } from '../members.ts';
import { schemaRefusal, unknownName } from './schema.ts';
import { isSignature } from './signature.ts';

const bodyFields = new Set([
  ...['contents', 'tools', 'toolConfig', 'safetySettings', 'systemInstruction', 'model'],
  ...['generationConfig', 'cachedContent', 'labels', 'serviceTier', 'store'],
]);
const configFields = new Set([
  ...['stopSequences', 'responseMimeType', 'responseSchema', 'responseJsonSchema', 'temperature'],
  ...['responseModalities', 'candidateCount', 'maxOutputTokens', 'topP', 'topK', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs', 'speechConfig'],
  ...['thinkingConfig', 'imageConfig', 'mediaResolution', 'enableEnhancedCivicAnswers'],
]);
const partData = /^(text|inlineData|fileData|functionCall|functionResponse|executableCode)$/;
const resultData = /^(codeExecutionResult|toolCall|toolResponse)$/;
const roles: readonly unknown[] = ['user', 'model', 'function', undefined];
/** Some of the many. */
const unknownTypes: ReadonlySet<unknown> = new Set(['application/json', 'image/jpg']);
const stopSequencesMax = 5;

/** Null: the API would take it. */
export function refusalOf(body: Members, contents: readonly Members[]): string | null {
  return (
    fieldsRefusal(body) ??
    toolsRefusal(body) ??
    contentsRefusal(contents) ??
    callsRefusal(contents) ??
    signatureRefusal(contents)
  );
}

/** Field names come in either case; the parser knows both. */
export function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function fieldsRefusal(body: Members): string | null {
  const foreign = Object.keys(body).find((name) => !bodyFields.has(camel(name)));
  if (foreign !== undefined) return unknownName(foreign, '');
  const config = isMembers(body.generationConfig) ? body.generationConfig : {};
  const setting = Object.keys(config).find((name) => !configFields.has(camel(name)));
  if (setting !== undefined) return unknownName(setting, 'generation_config');
  const { responseSchema: own, responseJsonSchema: json, responseMimeType: mime } = config;
  if (own !== undefined && json !== undefined) {
    return 'Only one of response_schema and response_json_schema can be set.';
  }
  if ((own !== undefined || json !== undefined) && mime !== 'application/json') {
    const field = own === undefined ? 'response_json_schema' : 'response_schema';
    const rule = 'only allowed with response_mime_type `application/json`';
    return `* GenerateContentRequest.generation_config.${field}: ${rule}\n`;
  }
  if (stringsOf(config.stopSequences).length > stopSequencesMax) {
    const rule = `at most ${stopSequencesMax}`;
    return `* GenerateContentRequest.generation_config.stop_sequences: ${rule}\n`;
  }
  return schemaRefusal(own, 'generation_config.response_schema');
}

function toolsRefusal(body: Members): string | null {
  const config = isMembers(body.generationConfig) ? body.generationConfig : {};
  const searches = membersOf(body.tools).some((tool) => isMembers(tool.googleSearch));
  if (searches && config.responseMimeType === 'application/json') {
    return "Tool use with a response mime type: 'application/json' is unsupported";
  }
  for (const [at, tool] of membersOf(body.tools).entries()) {
    for (const [index, declared] of membersOf(tool.functionDeclarations).entries()) {
      const where = `tools[${at}].function_declarations[${index}]`;
      const { name, parameters, parametersJsonSchema } = declared;
      if (typeof name !== 'string' || !/^[a-zA-Z_][\w.:-]{0,63}$/.test(name)) {
        const rule = 'Invalid function name. Must start with a letter or an underscore.';
        return `* GenerateContentRequest.${where}.name: ${rule}\n`;
      }
      const refusal = schemaRefusal(parameters, `${where}.parameters`);
      if (refusal !== null) return refusal;
      const fault = subsetFault(parametersJsonSchema);
      if (fault !== null)
        return `* GenerateContentRequest.${where}.parameters_json_schema: ${fault}\n`;
    }
  }
  return null;
}

function contentsRefusal(contents: readonly Members[]): string | null {
  if (contents.length === 0) {
    return '* GenerateContentRequest.contents: contents is not specified\n';
  }
  for (const [at, content] of contents.entries()) {
    if (!roles.includes(content.role)) return 'Please use a valid role: user, model.';
    const where = `* GenerateContentRequest.contents[${at}].parts`;
    const parts = membersOf(content.parts);
    if (parts.length === 0) return `${where}: contents.parts must not be empty.\n`;
    for (const [index, part] of parts.entries()) {
      const names = Object.keys(part).map(camel);
      const { mimeType } = isMembers(part.inlineData) ? part.inlineData : {};
      if (unknownTypes.has(mimeType)) return `Unsupported MIME type: ${mimeType}`;
      if (names.some((name) => partData.test(name) || resultData.test(name))) continue;
      const rule = "required oneof field 'data' must have one initialized field";
      return `${where}[${index}].data: ${rule}\n`;
    }
  }
  return null;
}

function callsRefusal(contents: readonly Members[]): string | null {
  for (let at = -1; at < contents.length; at += 1) {
    const calls = countParts(contents[at], 'functionCall');
    const results = countParts(contents[at + 1], 'functionResponse');
    const before = contents[at - 1];
    if (calls > 0 && (before === undefined || before.role === 'model')) {
      return (
        'Please ensure that function call turn comes immediately after a user turn or after a ' +
        'function response turn.'
      );
    }
    if (calls !== results) {
      return (
        'Please ensure that the number of function response parts is equal to the number of ' +
        'function call parts of the function call turn.'
      );
    }
  }
  return null;
}

function countParts(content: Members | undefined, name: string): number {
  return membersOf(content?.parts).filter((part) => part[name] !== undefined).length;
}

/** In the turn at hand the first call of every step has to come back with its signature. */
function signatureRefusal(contents: readonly Members[]): string | null {
  const isAsked = (content: Members) =>
    content.role !== 'model' && countParts(content, 'functionResponse') === 0;
  const turn = contents.findLastIndex(isAsked);
  for (const [at, content] of contents.entries()) {
    const parts = membersOf(content.parts);
    const changed = parts.some(
      ({ thoughtSignature: text }) => typeof text === 'string' && !isSignature(text),
    );
    if (changed) return 'Corrupted thought signature.';
    const call = parts.find((part) => part.functionCall !== undefined);
    if (at < turn || call === undefined || typeof call.thoughtSignature === 'string') continue;
    const name = isMembers(call.functionCall) ? call.functionCall.name : '';
    const place = `function call \`default_api:${name}\`, position ${at + 1}.`;
    return (
      'Function call is missing a thought_signature in functionCall parts. This is required for ' +
      `tools to work correctly. Additional data, ${place}`
    );
  }
  return null;
}
