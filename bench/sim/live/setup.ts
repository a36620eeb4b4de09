// What a set-up of BidiGenerateContent asks for, read once: turns, tools, transcripts, resumption.
import { isMembers, type Members } from '../members.ts';
import type { TokenPair } from '../voice/tokens.ts';
import { badHandle, checkSetup, declaredNames, type LiveRefusal, textsOf } from './check.ts';
import { recallHistory } from './resumption.ts';

export interface LiveSetup {
  instructions: string;
  declared: ReadonlySet<string>;
  /** The client says where turns begin and end. */
  isManual: boolean;
  interrupts: boolean;
  silenceMs: number;
  hearsTranscript: boolean;
  saysTranscript: boolean;
  resumes: boolean;
  /** Contents are history, to which nothing is answered, until they are said to be complete. */
  awaitsHistory: boolean;
  /** Of the session that is resumed; else nothing. */
  history: TokenPair;
}

/** A turn needs this much silence, also when less is asked for (decisions.md, section 9). */
const silenceMsMin = 600;

export function readSetup(setup: Members): LiveSetup | LiveRefusal {
  const refusal = checkSetup(setup);
  if (refusal !== null) return refusal;
  const config = membersAt(setup, 'realtimeInputConfig');
  const detection = membersAt(config, 'automaticActivityDetection');
  const { handle } = membersAt(setup, 'sessionResumption');
  const history = handle === undefined ? { text: 0, audio: 0 } : recallHistory(handle);
  if (history === null) return badHandle;
  const asked = detection.silenceDurationMs;
  return {
    instructions: textsOf(setup.systemInstruction),
    declared: declaredNames(setup),
    isManual: detection.disabled === true,
    interrupts: config.activityHandling !== 'NO_INTERRUPTION',
    silenceMs: Math.max(silenceMsMin, typeof asked === 'number' ? asked : 0),
    hearsTranscript: isMembers(setup.inputAudioTranscription),
    saysTranscript: isMembers(setup.outputAudioTranscription),
    resumes: isMembers(setup.sessionResumption),
    awaitsHistory: membersAt(setup, 'historyConfig').initialHistoryInClientContent === true,
    history,
  };
}

function membersAt(value: Members, name: string): Members {
  const found = value[name];
  return isMembers(found) ? found : {};
}
