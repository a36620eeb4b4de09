// How programs end that could judge a file, as fluent-ffmpeg tells it.

/**
 * How a program ends that has judged its file. Others could not be started, 126 and 127 where it is
 * the shell that says so, or were reached by a stop of the machine or of their group of processes,
 * at which ffmpeg exits with 255.
 */
export const hasJudged = new RegExp(
  '^ff(?:mpeg|probe) (?:exited with code (?!(?:126|127|255)\\b)|' +
    'was killed with signal (?!SIG(?:HUP|INT|QUIT|TERM)\\b))',
);
