// Where one session's conversation stands: the user's utterance, the model's turn, and whether what
// comes of that turn is to be heard. The format has no ids: items are counted.
import { cutText } from '../../../../runtime/http/text.ts';
import { type LiveEvent, utteranceCharactersMax } from '../contract.ts';
import { ItemAudio } from '../pcm.ts';

/** Parts of the user's transcript come even after the answer began: this much of it is waited. */
const lateTranscriptMs = 1000;
/** What is longer is told as several utterances; a part that is itself too long is cut. */

interface Answer {
  itemId: string;
  audio: ItemAudio;
  text: string;
  /** Its audio was said to be complete. */
  isDone: boolean;
  /** Its turn has its end: what comes next is another answer. */
  isOver: boolean;
}

export class Turn {
  /** The model's turn has content, and no end yet. */
  isOpen = false;
  /** It was interrupted: swallowed until its end. */
  isDiscarding = false;
  #answer: Answer | null = null;
  #answerCount = 0;
  #isUserSpeaking = false;
  #utterance = '';
  /** The user gave the answer up before it began, and has not spoken since. */
  #isUnwanted = false;
  /** The open turn answers the utterance; what the user says after it is another one. */
  #isAnswered = false;
  /** The answered turn of the user has no transcript yet: the next one is its, late. */
  #isUnheard = false;
  /** Parts of that transcript came when the turn was over. */
  #isLate = false;
  #utteranceCount = 0;

  /** The user was heard, told by the server or seen by what it transcribed. */
  speechStarted(): LiveEvent[] {
    this.#isUnwanted = false;
    if (this.#isUserSpeaking) return [];
    this.#isUserSpeaking = true;
    return [{ type: 'speech_started' }];
  }

  speechStopped(): LiveEvent[] {
    if (!this.#isUserSpeaking) return [];
    this.#isUserSpeaking = false;
    return [{ type: 'speech_stopped' }];
  }

  userSaid(said: string): LiveEvent[] {
    const text = cutText(said, utteranceCharactersMax);
    // A late transcript of what the model answers already does not mean that the user speaks again.
    if (this.#isUnheard && !this.isOpen && !this.#isUserSpeaking) {
      this.#isLate = true;
      const itemId = `user_${this.#utteranceCount}`;
      return [{ type: 'transcript', role: 'user', itemId, text, final: false, isLate: true }];
    }
    const events = this.isOpen || this.#isUnheard ? [] : this.speechStarted();
    this.#isUnheard = false;
    this.#isUnwanted = false;
    if (isFull(this.#utterance, text)) events.push(...this.#utteranceEvents());
    const itemId = `user_${this.#utteranceCount}`;
    this.#utterance += text;
    events.push({ type: 'transcript', role: 'user', itemId, text, final: false });
    // The rest of it would be kept as long as its begin.
    if (text !== said) events.push(...this.#utteranceEvents());
    return events;
  }

  userDone(): LiveEvent[] {
    if (this.#utterance === '') return [];
    this.#isAnswered = false;
    return this.#utteranceEvents();
  }

  /** The utterance that the open turn answers is complete. */
  answeredDone(): LiveEvent[] {
    if (!this.#isAnswered) return [];
    this.#isAnswered = false;
    return this.userDone();
  }

  /** The client interrupts: also an answer that is only awaited. */
  bargeIn(): void {
    this.#isUnwanted = !this.isOpen && this.#utterance !== '';
    this.giveUp();
  }

  /** The model does something: its turn is open. */
  open(): LiveEvent[] {
    if (!this.isOpen) {
      this.#isUnheard = this.#utterance === '';
      if (this.#isLate) this.#utteranceCount += 1;
      this.#isLate = false;
      this.#isAnswered = true;
      this.isDiscarding = this.#isUnwanted;
      this.#isUnwanted = false;
    }
    this.isOpen = true;
    if (!this.isDiscarding) return this.speechStopped();
    // Told, it would be taken for the begin of an answer that nobody hears, nor its end.
    this.#isUserSpeaking = false;
    return [];
  }

  hear(bytes: Buffer): LiveEvent[] {
    const events = this.#begin();
    const answer = this.#answer;
    if (answer === null) return events;
    const pcm = answer.audio.add(bytes);
    if (pcm.length > 0) events.push({ type: 'audio', itemId: answer.itemId, pcm });
    if (answer.audio.lengthMs > lateTranscriptMs) events.push(...this.userDone());
    return events;
  }

  say(said: string): LiveEvent[] {
    const text = cutText(said, utteranceCharactersMax);
    const events = this.#begin();
    const answer = this.#answer;
    if (answer === null) return events;
    if (isFull(answer.text, text)) events.push(...this.saidAll());
    answer.text += text;
    const { itemId } = answer;
    events.push({ type: 'transcript', role: 'assistant', itemId, text, final: false });
    if (text !== said) events.push(...this.saidAll());
    return events;
  }

  /** All that was said is there. */
  saidAll(): LiveEvent[] {
    const answer = this.#answer;
    if (answer === null || answer.text === '') return [];
    const { itemId, text } = answer;
    answer.text = '';
    return [{ type: 'transcript', role: 'assistant', itemId, text, final: true }];
  }

  generated(): LiveEvent[] {
    const answer = this.#answer;
    if (answer === null || answer.isDone) return [];
    answer.isDone = true;
    return answer.audio.bytes === 0 ? [] : [{ type: 'audio_done', itemId: answer.itemId }];
  }

  /** The answer is complete; it may still be interrupted while it is played. */
  close(): void {
    this.isOpen = false;
    this.isDiscarding = false;
    if (this.#answer !== null) this.#answer.isOver = true;
  }

  /** Nothing of the answer is to be heard any more. The item, or null: there is none. */
  giveUp(): string | null {
    const itemId = this.#answer?.itemId ?? null;
    this.isDiscarding = this.isOpen;
    this.#answer = null;
    return itemId;
  }

  #utteranceEvents(): LiveEvent[] {
    const text = this.#utterance;
    const itemId = `user_${this.#utteranceCount}`;
    this.#utterance = '';
    this.#utteranceCount += 1;
    return [{ type: 'transcript', role: 'user', itemId, text, final: true }];
  }

  /** The first content of a turn begins its item. */
  #begin(): LiveEvent[] {
    const events = this.isOpen ? [] : this.open();
    if (this.isDiscarding) return events;
    if (this.#answer !== null && !this.#answer.isOver) return events;
    this.#answerCount += 1;
    const itemId = `answer_${this.#answerCount}`;
    this.#answer = { itemId, audio: new ItemAudio(), text: '', isDone: false, isOver: false };
    return [...events, { type: 'answer_started', itemId }];
  }
}

function isFull(kept: string, more: string): boolean {
  return kept !== '' && kept.length + more.length > utteranceCharactersMax;
}
