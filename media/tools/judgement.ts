// How programs end that could judge a file, as fluent-ffmpeg tells it.

/**
 * How a program ends that has judged its file. Others could not be started: the shell says so with
 * 126 and 127. Or a stop of the machine or of their processes reached them: ffmpeg exits with 255.
 */
export const hasJudged = new RegExp(
  '^ff(?:mpeg|probe) (?:exited with code (?!(?:126|127|255)\\b)|' +
    'was killed with signal (?!SIG(?:HUP|INT|QUIT|TERM)\\b))',
);
