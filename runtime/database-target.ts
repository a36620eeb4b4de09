// Where a database is and how it is reached, as `DATABASE_URL` says it.
export interface DatabaseTarget {
  host: string;
  port: number;
  database: string;
  username: string;
  password: string;
  ssl: 'require' | 'prefer' | 'verify-full' | false;
}
