// The passwords that people choose most. Only threads that judge new passwords load them: 70 ms,
// and 4 MB of heap.
let loading: Promise<ReadonlySet<string>> | null = null;

/** All of them in lower case, loaded by the first call. */
export function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  loading ??= load();
  return loading;
}

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
