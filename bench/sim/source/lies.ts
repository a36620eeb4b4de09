// Files that are called MP4 and are something else: what makes a careless reader open other files
// and addresses. `host` is the simulator's own, which notes who comes.

const secret = 'file:///etc/passwd';

export const lies: Readonly<Record<string, (host: string) => string>> = {
  html: () => '<!doctype html><title>Not a video</title><p>Sign in to watch.</p>\n',
  empty: () => '',
  text: () => 'This is no video at all.\n'.repeat(100),
  playlist: (host) =>
    [
      '#EXTM3U',
      '#EXT-X-TARGETDURATION:10',
      '#EXTINF:10,',
      `http://${host}/sim/source/count.mp4`,
      '#EXTINF:10,',
      secret,
      '#EXT-X-ENDLIST',
      '',
    ].join('\n'),
  'playlist-byte-range': () =>
    [
      '#EXTM3U',
      '#EXT-X-MEDIA-SEQUENCE:0',
      '#EXTINF:10.0,',
      `concat:${secret}|subfile,,start,0,end,4096,,:${secret}`,
      '#EXT-X-ENDLIST',
      '',
    ].join('\n'),
  concat: (host) =>
    [
      'ffconcat version 1.0',
      `file '${secret}'`,
      `file 'http://${host}/sim/source/count.mp4'`,
      '',
    ].join('\n'),
  dash: (host) =>
    '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" ' +
    'mediaPresentationDuration="PT10S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">' +
    '<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1">' +
    `<BaseURL>http://${host}/sim/source/count.mp4</BaseURL>` +
    '</Representation></AdaptationSet></Period></MPD>\n',
  session: (host) => `v=0\no=- 0 0 IN IP4 ${host}\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n`,
};
