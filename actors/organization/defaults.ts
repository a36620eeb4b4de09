// What new organizations get, and who may make them: one record of the catalog.
import * as v from 'valibot';

/** More than anybody has people. */
export const seatLimitMax = 1_000_000;

export const seatLimitSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(seatLimitMax),
);

export const organizationDefaultEntries = {
  /** `admins`: administrators alone make organizations, for whoever is to own them. */
  creation: v.optional(v.picklist(['users', 'admins']), 'users'),
  seat_limit: v.optional(seatLimitSchema, 25),
};

export interface OrganizationDefaults {
  creation: 'users' | 'admins';
  seat_limit: number;
}

/** The name of the one record of its kind. */
export const organizationDefaultsName = 'settings';
