// Why a video file is not taken. Callers decide by the fault, people read the sentence.

/** `too_long` and `part_outside` are told of sources only, `unwritten` is our disk's fault. */
export const videoFaults = {
  empty: 'The file is empty.',
  not_video: 'By its first bytes the file is no video of a kind that is taken.',
  cut: 'The file ends before what it announces.',
  no_index: 'The file has no index of its streams.',
  index_too_large: 'The index of the file is larger than that of any video of such a length.',
  too_many_streams: 'The file has too many streams.',
  unreadable: 'The file cannot be read as what its first bytes say.',
  no_video_stream: 'The file has no video stream.',
  several_video_streams: 'The file has several video streams.',
  several_audio_streams: 'The file has several audio streams.',
  codec: 'The codec of the video is not one that is taken.',
  picture_too_large: 'The picture is larger than any that is decoded.',
  no_length: 'The file does not say how long it is.',
  wrong_length: 'The length is not the one that was asked for.',
  wrong_size: 'The picture is smaller than what was asked for.',
  undecodable: 'Frames of the video cannot be decoded.',
  too_long: 'The video is longer than what is looked at.',
  part_outside: 'The part begins after the end of the video.',
  unwritten: 'The file without its sound could not be written.',
} as const;

export type VideoFault = keyof typeof videoFaults;
