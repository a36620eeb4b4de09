// A certificate of localhost for tests of TLS, made by openssl where that is installed.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a test of TLS says when it is skipped; false: it runs. */
export const withoutOpenssl = ((): string | false => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'openssl is not on the PATH';
  }
})();

export interface Certificate {
  key: Buffer;
  cert: Buffer;
  /** Of a process that trusts it; others do not. */
  trust: { NODE_EXTRA_CA_CERTS: string };
  remove(): Promise<void>;
}

export async function makeCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['-nodes', '-keyout', key, '-out', cert, '-days', '2', ...subject];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...made], { stdio: 'ignore' });
  return {
    key: await readFile(key),
    cert: await readFile(cert),
    trust: { NODE_EXTRA_CA_CERTS: cert },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What a script prints as JSON: which certificates a process trusts is decided when it starts. */
export async function runClient(
  script: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<unknown> {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (bytes) => {
    printed += bytes;
  });
  await once(child, 'close');
  return JSON.parse(printed);
}
