// A copy of a person's data as a ZIP: a JSON file a domain, read page by page while it is packed.
// What is in memory is a page and what the compressor holds.
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Queryable } from '../../db/driver/sql.ts';
import type { ExportedList, PersonalDomain } from '../../db/personal-data/contract.ts';
import { personalData, readExportedPage } from '../../db/personal-data.ts';
import type { PersonalDataLimits } from './limits.ts';

export interface ArchiveOptions {
  sql: Queryable;
  accountId: string;
  limits: Pick<PersonalDataLimits, 'pageRowsMax' | 'pageBytesMax'>;
  domains?: readonly PersonalDomain[];
}

/** No turn of the thread is longer than one of these takes to be summed up. */
const pieceBytes = 65_536;

/** The bytes of the archive. What reading throws, this throws. */
export async function* archiveOf(options: ArchiveOptions): AsyncGenerator<Buffer, void, undefined> {
  const { domains = personalData } = options;
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  let file: Readable | null = null;
  for (const { file: name, lists } of domains) {
    if (name === null) continue;
    zip.addReadStreamLazy(`${name}.json`, { mtime: new Date() }, (give) => {
      file = Readable.from(piecesOf(options, lists), { objectMode: false });
      // The library listens to none of its sources.
      file.on('error', (error) => zip.emit('error', error));
      give(null, file);
    });
  }
  zip.end();
  try {
    for await (const piece of output) yield piece as Buffer;
  } finally {
    (file as Readable | null)?.destroy();
  }
}

async function* piecesOf(
  options: ArchiveOptions,
  lists: readonly ExportedList[],
): AsyncGenerator<Buffer> {
  for await (const text of textsOf(options, lists)) {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from += pieceBytes) {
      yield bytes.subarray(from, from + pieceBytes);
    }
  }
}

/** An object with a member for each list. */
async function* textsOf(
  options: ArchiveOptions,
  lists: readonly ExportedList[],
): AsyncGenerator<string> {
  let before = '{';
  for (const list of lists) {
    yield `${before}\n${JSON.stringify(list.name)}: [`;
    yield* rowsOf(options, list);
    yield ']';
    before = ',';
  }
  yield '\n}\n';
}

async function* rowsOf(
  { sql, accountId, limits }: ArchiveOptions,
  list: ExportedList,
): AsyncGenerator<string> {
  const bounds = { rowsMax: limits.pageRowsMax, bytesMax: limits.pageBytesMax };
  let after = '';
  for (let isFirst = true; ; ) {
    const page = await readExportedPage(sql, list, accountId, after, bounds);
    for (const { item } of page) {
      yield `${isFirst ? '' : ','}\n${item}`;
      isFirst = false;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.cursor;
  }
}
