// What `unknown=1` mixes into every family: members that no published type has, with the characters
// that a careless reader trips over.

export const unknownMembers: Readonly<Record<string, unknown>> = Object.freeze({
  sim_unknown: { text: 'a "quote", a }] and a \n', list: [1, null, { usage: 7 }] },
});

/** The same as JSON, to append before a closing brace. */
export const unknownTail = `,${JSON.stringify(unknownMembers).slice(1, -1)}`;
