// The body of a call, and the same call as curl. Pure, so that it is tested.

export type ParameterValue = string | number | string[];

/** `max_age_seconds` is no parameter: it stands beside them. */
export function bodyOf(
  surface: string,
  query: string,
  values: Readonly<Record<string, ParameterValue>>,
): string {
  const { max_age_seconds: age, ...params } = values;
  return JSON.stringify({
    surface,
    query,
    ...(Object.keys(params).length === 0 ? {} : { params }),
    ...(age === undefined ? {} : { max_age_seconds: age }),
  });
}

export function curlOf(origin: string, body: string): string {
  return [
    `curl ${origin}/api/v1/query \\`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n');
}
