// A process that sends messages over a live socket and prints what came back, or why none did.
import { once } from 'node:events';
import { openLiveSocket } from '../../../media/transport/socket.ts';

const [url = ''] = process.argv.slice(2);
const told: string[] = [];
const options = { perMessageDeflate: false, maxPayload: 65_536 };
const { socket, sendAscii } = openLiveSocket(url, options, (message) => {
  told.push(String(message));
  if (told.length === 3) socket.close();
});
try {
  await once(socket, 'open');
  sendAscii('short');
  socket.send('between');
  sendAscii('long '.repeat(400));
  await once(socket, 'close');
  process.stdout.write(JSON.stringify(told));
} catch (error) {
  process.stdout.write(JSON.stringify((error as { code?: string }).code));
}
