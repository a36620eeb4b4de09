// The role of an account: to administer is a role, and stands nowhere else.
export type AccountRole = 'user' | 'admin';
