// A fault of a record, by the member that is wrong.
export interface PathFault {
  /** The member inside the record, such as `routes[0].provider`. */
  path: string;
  message: string;
}
